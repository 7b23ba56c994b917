# exit: 3
remat-plan profile data/graph/good/small.json --device v100-16g
