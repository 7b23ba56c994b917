# exit: 1
remat-plan solve data/graph/good/host_home.json --budget 60%
