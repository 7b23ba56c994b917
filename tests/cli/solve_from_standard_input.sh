# exit: 0
remat-plan solve --ignore-clock - --budget 128 <data/graph/good/small.json
