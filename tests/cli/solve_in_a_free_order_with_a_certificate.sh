# exit: 2
remat-plan solve --ignore-clock data/graph/good/free_order.json --budget 60% --certificate c.json
