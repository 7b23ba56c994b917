# exit: 2
remat-plan solve data/graph/good/small.json --budget 80% --gap=-5
