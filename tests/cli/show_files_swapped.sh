# exit: 3
remat-plan show data/plan/good/small.json data/graph/good/small.json
