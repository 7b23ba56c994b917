# exit: 5
remat-plan show data/graph/good/small.json missing.json
