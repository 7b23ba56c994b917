# exit: 0
remat-plan verify --json --certificate=data/certificate/proof.json data/certificate/loop.json data/certificate/plan.json
