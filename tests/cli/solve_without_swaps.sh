# exit: 0
remat-plan solve data/graph/good/chain.json --budget 60% --no-swap
