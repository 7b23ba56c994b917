# exit: 1
remat-plan solve --ignore-clock data/graph/good/small.json --budget 64 --json
