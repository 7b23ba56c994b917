# exit: 2
remat-plan profile data/graph/good/small.json --device
