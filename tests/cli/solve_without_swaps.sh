# exit: 0
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --no-swap
