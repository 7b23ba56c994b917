# exit: 0
remat-plan verify --no-replay data/verify/net.json data/verify/keep.json
