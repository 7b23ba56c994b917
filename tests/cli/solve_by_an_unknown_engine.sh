# exit: 2
remat-plan solve --ignore-clock data/graph/good/chain.json -b 80% --engine cplex
