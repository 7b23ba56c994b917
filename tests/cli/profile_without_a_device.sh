# exit: 5
remat-plan profile data/graph/good/small.json
