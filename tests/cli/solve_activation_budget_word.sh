# exit: 2
remat-plan solve --ignore-clock data/graph/good/chain.json --activation-budget most
