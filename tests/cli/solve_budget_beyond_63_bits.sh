# exit: 2
remat-plan solve data/graph/good/small.json --budget=9223372036854775808
