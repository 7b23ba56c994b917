# exit: 3
remat-plan show data/graph/good/small.json data/graph/good/small.json
