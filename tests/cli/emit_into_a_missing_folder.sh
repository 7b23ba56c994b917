# exit: 5
remat-plan emit --target c -o missing/here data/graph/good/step.json data/plan/good/step.json
