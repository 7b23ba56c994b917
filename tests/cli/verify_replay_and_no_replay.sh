# exit: 2
remat-plan verify --replay hash --no-replay data/verify/net.json data/verify/keep.json
