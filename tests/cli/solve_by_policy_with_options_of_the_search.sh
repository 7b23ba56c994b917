# exit: 0
# A policy that searches gets what the search itself would get.
chain=data/graph/good/chain.json
solve() {
    echo "$*: $(remat-plan solve $chain -b 60% --json "$@" 2>&1 |
        grep -oE '^remat-plan:.*|"(time_ns|host_bytes)":[0-9]*' | tr '\n' ' ')"
}
for options in '' '--gap 30' --no-swap '--host-budget 128'; do
    solve $options -p remat -t 0.1 --ignore-clock
done
solve -p capuchin --no-swap
solve -p capuchin --host-budget 128
remat-plan solve $chain -b 60% -p libra --no-addresses -q -o p.json
grep -o '"addressed":[a-z]*' p.json
# The interrupt comes while the graph is read.
mkfifo graph
remat-plan solve graph -b 60% -p libra &
exec 3>graph
kill -INT $!
cat $chain >&3
exec 3>&-
wait $!
echo "exit $?"
