# exit: 2
remat-plan solve data/graph/good/chain.json -b 80% --engine cplex
