# exit: 0
remat-plan solve - --budget 128 <data/graph/good/small.json
