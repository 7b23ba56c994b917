# exit: 2
chain=data/graph/good/chain.json
remat-plan sweep $chain -o d --jobs --merge
remat-plan sweep $chain -o d --jobs --json
remat-plan sweep $chain -o d --jobs -j 2
remat-plan sweep - -o d --jobs <$chain
status=$?
ls
exit $status
