# exit: 2
remat-plan solve --ignore-clock data/graph/good/small.json --budget=-80%
