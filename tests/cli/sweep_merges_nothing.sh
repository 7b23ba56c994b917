# exit: 3
chain=data/graph/good/chain.json
remat-plan sweep $chain -o nodir --merge
mkdir d
remat-plan sweep $chain -o d --merge
status=$?
ls
exit $status
