# exit: 4
# The signal comes while the graph is read. The same command goes on afterwards.
chain=data/graph/good/chain.json
mkfifo graph
for processes in 1 2; do
    remat-plan sweep graph -n 3 -t 1 --no-seconds -j $processes -o d &
    exec 3>graph
    kill -INT $!
    cat $chain >&3
    exec 3>&-
    wait $!
    status=$?
done
find d | sort
# A share has no table, and says itself that it is not done.
remat-plan sweep graph -n 3 --share 0/1 -o d &
exec 3>graph
kill -INT $!
cat $chain >&3
exec 3>&-
wait $!
echo "exit $?"
grep -o '"complete":[a-z]*' d/sweep.json
cp $chain graph.json
remat-plan sweep graph.json -n 3 -t 1 --no-seconds -q -o d
grep -o '"complete":[a-z]*' d/sweep.json
exit $status
