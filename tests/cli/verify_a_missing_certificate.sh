# exit: 5
remat-plan verify --certificate nowhere.json data/certificate/loop.json data/certificate/plan.json
