# exit: 2
remat-plan solve data/graph/good/small.json -b 90% --write-mps m.mps --out plan.json
