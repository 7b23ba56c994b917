# exit: 1
remat-plan verify data/certificate/loop.json data/certificate/optimal.json --certificate data/certificate/proof.json
