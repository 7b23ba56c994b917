# exit: 2
remat-plan show data/graph/good/small.json data/plan/good/small.json --json --html -
