# exit: 2
remat-plan solve data/graph/good/chain.json --budget 60% --start data/plan/good/chain.json --policy keep-all
