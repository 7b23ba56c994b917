# exit: 3
chain=data/graph/good/chain.json
remat-plan sweep $chain -o nodir --merge
mkdir d
remat-plan sweep $chain -o d --merge
remat-plan sweep $chain -n 3 -t 1 --gap 100 -q -o e
remat-plan sweep $chain -n 2 -o e --merge
status=$?
ls
exit $status
