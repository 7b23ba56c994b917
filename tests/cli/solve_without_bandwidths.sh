# exit: 1
# Without bandwidths swaps are not considered. A message says so if that could be a surprise.
grep -v '^"device"' data/graph/good/chain.json >g.json
sed 's/"d2h_bytes_per_s": *[0-9]*, *//' data/graph/good/chain.json >one.json
clock=--ignore-clock
try() {
    echo "-- $*" >&2
    remat-plan solve "$@" $clock --budget 1000 -t 1 --json >report.json
}
try g.json
try g.json --host-budget 1GiB
try g.json --h2d 10
try one.json
echo "-- no message" >&2
try g.json --no-swap
try g.json --h2d 10 --d2h 10
try g.json --h2d 0
try one.json --d2h 10
try g.json --host-budget 1GiB -q
clock=
try g.json --policy chen-sqrt
