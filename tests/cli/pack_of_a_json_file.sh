# exit: 3
remat-plan pack data/graph/good/small.json
