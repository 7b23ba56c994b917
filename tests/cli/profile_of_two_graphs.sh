# exit: 2
remat-plan profile --device v100-16g data/graph/good/small.json data/graph/good/small.json
