# exit: 3
remat-plan verify --replay ref data/verify/net.json data/verify/keep.json
