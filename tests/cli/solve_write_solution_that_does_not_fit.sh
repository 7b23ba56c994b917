# exit: 3
remat-plan solve data/graph/good/chain.json -b 100% --ignore-clock -t 0.1 -q -o plan.json
remat-plan solve data/graph/good/chain.json -b 60% --start plan.json --write-solution x.sol
