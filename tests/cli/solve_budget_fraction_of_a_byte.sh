# exit: 2
remat-plan solve data/graph/good/small.json --budget=1.5
