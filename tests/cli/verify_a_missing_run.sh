# exit: 1
grep -v '"run": 1' data/plan/good/small.json >p.json
remat-plan verify data/graph/good/small.json p.json
