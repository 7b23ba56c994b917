# exit: 1
remat-plan solve data/graph/good/small.json --budget 0
