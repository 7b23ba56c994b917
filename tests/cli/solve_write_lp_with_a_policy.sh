# exit: 2
remat-plan solve data/graph/good/small.json -b 90% --write-lp m.lp --policy chen-sqrt
