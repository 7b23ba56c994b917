# exit: 4
# The interrupt comes before any row, while the command waits for the graph. timeout(1) sends
# its signal twice.
mkfifo graph
remat-plan compare --ignore-clock --no-seconds graph -b 80%,60% -p keep-all,remat --csv t.csv &
exec 3>graph
kill -INT $!
kill -INT $!
cat data/graph/good/chain.json >&3
exec 3>&-
wait $!
status=$?
cat t.csv
remat-plan compare --ignore-clock --no-seconds graph -b 80% -p keep-all --json &
exec 3>graph
kill -TERM $!
cat data/graph/good/chain.json >&3
exec 3>&-
wait $!
exit $status
