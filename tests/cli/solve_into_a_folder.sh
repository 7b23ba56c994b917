# exit: 5
remat-plan solve --ignore-clock data/graph/good/small.json --budget 128 -o .
