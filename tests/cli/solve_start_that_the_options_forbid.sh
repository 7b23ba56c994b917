# exit: 1
graph=data/graph/good/chain.json
remat-plan solve --ignore-clock $graph --budget 60% -o copies.json -q
remat-plan solve --ignore-clock $graph --budget 60% --no-swap -o recomputes.json -q
remat-plan solve --ignore-clock $graph --budget 60% --no-swap --start copies.json
remat-plan solve --ignore-clock $graph --budget 60% --no-recompute --no-swap --start recomputes.json
