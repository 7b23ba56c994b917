# exit: 4
# Files of an earlier sweep in the folder do not count. Keep-all's plan needs no search.
chain=data/graph/good/chain.json
remat-plan sweep $chain -n 3 -t 1 -q -o d
touch d/mine
mkfifo graph
for processes in 1 2; do
    remat-plan sweep graph -n 3 -j $processes -o d &
    exec 3>graph
    kill -INT $!
    cat $chain >&3
    exec 3>&-
    wait $!
    status=$?
    ls d
done
grep -o '"interrupted":[a-z]*' d/sweep.json
remat-plan verify -q $chain d/point-02.plan.json
exit $status
