# exit: 0
remat-plan solve data/graph/good/small.json -b 100% --write-mps m.mps --write-lp m.lp
cat m.lp
head -n 20 m.mps
