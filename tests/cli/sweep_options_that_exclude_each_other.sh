# exit: 2
chain=data/graph/good/chain.json
remat-plan sweep $chain -o d --jobs --merge
remat-plan sweep $chain -o d --jobs --json
remat-plan sweep $chain -o d --slurm -j 2
remat-plan sweep $chain -o d --merge --share 0/2
remat-plan sweep --ignore-clock $chain -o d --points 3 --budget 60%
remat-plan sweep - -o d --jobs <$chain
remat-plan sweep $chain - -o d --slurm <$chain
status=$?
ls
exit $status
