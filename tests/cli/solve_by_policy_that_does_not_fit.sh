# exit: 1
remat-plan solve data/graph/good/chain.json --budget 60% --policy keep-all -o plan.json
status=$?
ls
exit $status
