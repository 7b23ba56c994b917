# exit: 0
set -e
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --no-swap -o a.json -q
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --no-swap --start a.json -o b.json
remat-plan verify -q data/graph/good/chain.json b.json
