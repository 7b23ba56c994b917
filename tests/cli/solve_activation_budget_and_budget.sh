# exit: 2
remat-plan solve data/graph/good/chain.json --activation-budget 60% --budget 60%
