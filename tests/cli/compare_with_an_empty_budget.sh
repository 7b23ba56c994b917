# exit: 2
remat-plan compare data/graph/good/chain.json -b 60%,,40%
