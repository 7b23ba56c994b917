# exit: 0
remat-plan compare --no-seconds data/graph/good/chain.json -b 60%..100%:3 -p keep-all | grep budget
