# exit: 4
# The signal comes while the graph is read, so no point is planned, and there is no table.
# The same command goes on afterwards.
chain=data/graph/good/chain.json
mkfifo graph
interrupted() {
    remat-plan sweep --ignore-clock graph -n 3 -t 1 --no-seconds -o d "$@" &
    exec 3>graph
    kill -INT $!
    cat $chain >&3
    exec 3>&-
    wait $!
    status=$?
    echo "exit $status"
}
interrupted -j 1
interrupted -j 2
interrupted --share 0/1
find d | sort
# A second graph is not read.
cp $chain other.json
interrupted other.json
cp $chain graph.json
remat-plan sweep --ignore-clock graph.json -n 3 -t 1 --no-seconds -q -o d
grep -o '"complete":[a-z]*' d/sweep.json
# All points are planned, and their plans are not read again for the table.
rm d/sweep.csv
mkdir d/other && mv d/graph/*.plan.json d/other
interrupted --merge
ls d
exit $status
