# exit: 0
set -e
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --no-swap --reorder --time-limit 5 -q -o a.json
remat-plan verify -q data/graph/good/chain.json a.json
