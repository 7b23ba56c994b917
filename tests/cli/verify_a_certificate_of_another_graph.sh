# exit: 1
remat-plan verify --certificate data/certificate/proof.json data/verify/net.json data/verify/sum.json
