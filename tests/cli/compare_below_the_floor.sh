# exit: 0
remat-plan compare --ignore-clock --no-seconds data/graph/good/chain.json -b 0 -t 1
remat-plan compare --ignore-clock --no-seconds data/graph/good/chain.json -b 0 -p dtr,remat --json
