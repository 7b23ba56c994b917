# exit: 5
remat-plan verify data/graph/good/small.json data/plan/good/small.json >/dev/full
