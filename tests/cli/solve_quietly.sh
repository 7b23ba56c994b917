# exit: 0
remat-plan solve --ignore-clock data/graph/good/small.json --budget 128 -q -o plan.json
