# exit: 0
remat-plan compare data/graph/good/chain.json -b 0 -t 1
remat-plan compare data/graph/good/chain.json -b 0 -p dtr,remat --json
