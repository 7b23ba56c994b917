# exit: 0
set -e
remat-plan solve --ignore-clock data/graph/good/free_order.json --budget 48 --no-swap --no-addresses -o a.json
remat-plan verify -q data/graph/good/free_order.json a.json
remat-plan solve --ignore-clock data/graph/good/free_order.json --budget 48 --no-swap --no-addresses --given-order -o b.json
