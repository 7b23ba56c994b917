# exit: 3
remat-plan solve data/graph/good/small.json -b 120% -t 0.1 --ignore-clock -q -o start.json
remat-plan solve data/graph/good/small.json -b 120% --start start.json --write-solution x.sol -q
remat-plan solve data/graph/good/small.json -b 120% --no-swap --solution x.sol
