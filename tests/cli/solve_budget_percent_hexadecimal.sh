# exit: 2
remat-plan solve data/graph/good/small.json --budget=0x50%
