# exit: 2
remat-plan solve data/graph/good/small.json -b 120% --solution x.sol --start plan.json
