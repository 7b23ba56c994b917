# exit: 5
remat-plan solve data/graph/good/small.json --budget 128 >/dev/full
