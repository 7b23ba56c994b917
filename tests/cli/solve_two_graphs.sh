# exit: 2
remat-plan solve data/graph/good/small.json data/graph/good/small.json --budget 8GiB
