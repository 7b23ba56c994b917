# exit: 2
remat-plan sweep
remat-plan sweep data/graph/good/chain.json
remat-plan sweep data/graph/good/chain.json -o d -n 1
remat-plan sweep data/graph/good/chain.json -o d -t 0
