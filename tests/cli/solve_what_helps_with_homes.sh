# exit: 0
# What would help is said where a larger budget alone would not.
no() {
    echo "$*"
    remat-plan solve "$@" -t 0.1 --ignore-clock || echo "exit code $?"
}
host=data/graph/good/state.json any=data/graph/good/any_home.json
no $host --budget 100% --given-order --no-swap
no $host --budget 100% --given-order --host-budget 7
no $host --budget 100% --given-order --host-budget 7 --json
no data/graph/good/host_home.json --budget 100%
# Without copies, the source stays on the device: no other plan exists.
no $any --budget 1500 --no-swap
no $any --budget 1500 --reorder
# A source that no op touches may be left on the host without copies.
sed -e 's/"home":"host"/"home":"device"/' \
    -e 's/.*"v",.*/{"name":"idle","bytes":9,"kind":"state","home":"any"},&/' \
    -e 's/"outputs":\[4\]/"outputs":[5]/' \
    data/graph/good/host_home.json >idle.json
no idle.json --budget 20
sed 's/"home":"any"/"home":"host"/' idle.json >idle_on_the_host.json
no idle_on_the_host.json --budget 100%
# More host memory may help instead of a larger budget.
sed 's/"bytes":100,"kind":"input"/&,"home":"any"/' $any >two.json
no two.json --budget 1200 --host-budget 450
