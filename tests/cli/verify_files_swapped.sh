# exit: 3
remat-plan verify data/plan/good/small.json data/graph/good/small.json
