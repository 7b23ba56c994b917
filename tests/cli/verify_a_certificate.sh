# exit: 0
remat-plan verify --certificate data/certificate/proof.json data/certificate/loop.json data/certificate/plan.json
