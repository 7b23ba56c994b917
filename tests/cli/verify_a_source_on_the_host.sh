# exit: 0
remat-plan verify data/graph/good/state.json data/plan/good/state.json
remat-plan verify --json data/graph/good/state.json data/plan/good/state.json
remat-plan show --steps data/graph/good/state.json data/plan/good/state.json
