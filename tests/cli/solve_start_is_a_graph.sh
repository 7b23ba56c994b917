# exit: 3
remat-plan solve data/graph/good/chain.json --budget 60% --start data/graph/good/small.json
