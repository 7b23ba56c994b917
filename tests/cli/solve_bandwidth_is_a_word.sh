# exit: 2
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --h2d fast
