# exit: 3
remat-plan verify - - <data/graph/good/small.json
