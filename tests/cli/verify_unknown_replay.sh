# exit: 2
remat-plan verify --replay gpu data/verify/net.json data/verify/keep.json
