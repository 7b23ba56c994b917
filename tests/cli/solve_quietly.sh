# exit: 0
remat-plan solve data/graph/good/small.json --budget 128 -q -o plan.json
