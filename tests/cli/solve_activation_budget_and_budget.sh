# exit: 2
remat-plan solve --ignore-clock data/graph/good/chain.json --activation-budget 60% --budget 60%
