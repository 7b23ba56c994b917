# exit: 5
remat-plan verify data data/plan/good/small.json
