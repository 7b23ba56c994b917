# exit: 2
remat-plan compare data/graph/good/chain.json -p chen-sqrt,best
