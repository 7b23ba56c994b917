# exit: 1
sed 's/"run":2/"run":1/' data/certificate/plan.json |
    remat-plan verify --certificate data/certificate/proof.json data/certificate/loop.json -
