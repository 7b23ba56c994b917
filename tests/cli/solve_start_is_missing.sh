# exit: 5
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --start missing.json
