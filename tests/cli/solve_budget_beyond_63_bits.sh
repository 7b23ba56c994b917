# exit: 2
remat-plan solve --ignore-clock data/graph/good/small.json --budget=9223372036854775808
