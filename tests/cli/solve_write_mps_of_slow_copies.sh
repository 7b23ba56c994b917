# exit: 4
# There is a plan, but it takes longer than what the model allows for.
graph=data/graph/good/chain.json
slow="-b 60% --no-recompute --h2d 0.001 --d2h 0.001"
remat-plan solve $graph $slow --ignore-clock -t 0.1 -q --graph-out slow.json -o plan.json && ls plan.json
remat-plan solve $graph $slow --write-mps m.mps
status=$?
test -e m.mps && echo "m.mps was written"
exit $status
