# exit: 3
remat-plan solve data/graph/good/host_home.json --budget 60%
