# exit: 1
sed 's/"run": 1,/"run": 7,/' data/plan/good/small.json >plan.json
remat-plan show data/graph/good/small.json plan.json --json
