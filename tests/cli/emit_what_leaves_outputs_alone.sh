# exit: 3
remat-plan emit --target c -o program data/graph/good/state.json data/plan/good/state.json
