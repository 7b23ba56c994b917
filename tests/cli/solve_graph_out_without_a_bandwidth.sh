# exit: 2
remat-plan solve data/graph/good/chain.json --budget 60% --graph-out same.json
