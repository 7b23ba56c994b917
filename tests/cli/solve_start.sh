# exit: 0
set -e
remat-plan solve data/graph/good/chain.json --budget 60% -o a.json -q
remat-plan solve data/graph/good/chain.json --budget 60% --start a.json -o b.json
remat-plan verify -q data/graph/good/chain.json b.json
