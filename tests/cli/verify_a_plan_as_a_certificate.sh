# exit: 3
remat-plan verify --certificate data/certificate/plan.json data/certificate/loop.json data/certificate/plan.json
