# exit: 2
remat-plan solve data/graph/good/chain.json --activation-budget most
