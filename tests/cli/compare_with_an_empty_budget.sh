# exit: 2
remat-plan compare --ignore-clock data/graph/good/chain.json -b 60%,,40%
