# exit: 0
remat-plan verify data/verify/net.json - <data/verify/sum.json
