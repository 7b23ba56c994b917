# exit: 2
remat-plan profile data/graph/good/small.json --device v100-16g --h2d 12GB
