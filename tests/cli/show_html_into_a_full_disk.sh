# exit: 5
remat-plan show data/graph/good/small.json data/plan/good/small.json --html /dev/full >out
