# exit: 3
remat-plan compare data/graph/good/host_home.json
