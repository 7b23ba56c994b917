# exit: 2
remat-plan show data/plan/good/small.json
