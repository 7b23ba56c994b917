# exit: 0
remat-plan solve data/graph/good/small.json -b 120% -t 0.1 --ignore-clock -q -o start.json
remat-plan solve data/graph/good/small.json -b 120% --start start.json --write-solution x.sol -q
remat-plan solve data/graph/good/small.json -b 120% --solution x.sol -o plan.json
remat-plan verify data/graph/good/small.json plan.json
