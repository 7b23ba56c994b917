# exit: 2
remat-plan emit -o here data/verify/net.json data/verify/keep.json
