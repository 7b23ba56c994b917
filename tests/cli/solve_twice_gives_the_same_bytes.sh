# exit: 0
set -e
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --no-swap -o a.json
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --no-swap -o b.json >/dev/null
cmp a.json b.json
remat-plan verify -q data/graph/good/chain.json a.json
