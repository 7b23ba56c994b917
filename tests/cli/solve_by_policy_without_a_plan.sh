# exit: 0
solve() {
    echo "-- $*"
    remat-plan solve "$@" || echo "exit $?"
}
both() {
    solve "$@"
    solve "$@" --json
}
exec 2>&1
chain=data/graph/good/chain.json
solve $chain -b 100% -p chen-sqrt
both data/graph/good/state.json -b 100% -p capuchin
both $chain -b 608 -p checkmate -t 0.1 --ignore-clock
# The search gave up, which proves nothing.
sed -e 's/"home":"host"/"home":"device"/' \
    -e 's/.*"v",.*/{"name":"idle","bytes":9,"kind":"state","home":"any"},&/' \
    -e 's/"outputs":\[4\]/"outputs":[5]/' data/graph/good/host_home.json >idle.json
both idle.json -b 20 -p remat -t 0.1 --ignore-clock
# An op that runs again passes 2^63 ns.
sed 's/"time_ns": *[0-9]*/"time_ns": 500000000000000000/' $chain >long.json
both long.json -b 70% -p chen-sqrt
