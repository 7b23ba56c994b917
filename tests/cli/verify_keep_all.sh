# exit: 0
remat-plan verify data/verify/net.json data/verify/keep.json
