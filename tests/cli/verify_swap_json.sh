# exit: 0
remat-plan verify --json data/verify/net.json data/verify/swap.json
