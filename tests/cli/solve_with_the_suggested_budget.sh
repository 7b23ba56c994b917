# exit: 0
# Without swaps and recomputation keep-all is the only plan.
remat-plan solve --ignore-clock data/graph/good/chain.json --no-swap --no-recompute --budget 600
advised=$(remat-plan solve --ignore-clock data/graph/good/chain.json --no-swap --no-recompute --budget 600 |
    sed -n 's/^try --budget \([^ ]*\)$/\1/p')
remat-plan solve --ignore-clock data/graph/good/chain.json --no-swap --no-recompute --budget "$advised" 2>warning
