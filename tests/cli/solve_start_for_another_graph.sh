# exit: 3
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --start data/plan/good/small.json
