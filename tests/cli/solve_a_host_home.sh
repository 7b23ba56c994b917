# exit: 1
remat-plan solve --ignore-clock data/graph/good/host_home.json --budget 60%
