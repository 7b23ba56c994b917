# exit: 5
remat-plan verify data/graph/good/small.json missing.json
