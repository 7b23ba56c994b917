# exit: 1
sed 's/\[3,0,3,200\]/[3,2,3,200]/' data/certificate/proof.json |
    remat-plan verify --certificate - data/certificate/loop.json data/certificate/plan.json
