# exit: 1
remat-plan verify data/graph/good/chain.json data/plan/good/small.json
