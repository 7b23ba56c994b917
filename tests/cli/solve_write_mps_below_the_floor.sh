# exit: 1
remat-plan solve data/graph/good/chain.json -b 100 --write-mps m.mps
status=$?
ls
exit $status
