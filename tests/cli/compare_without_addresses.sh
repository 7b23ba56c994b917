# exit: 0
# Sizes are not rounded up. Both ends of a range may be the same.
set -- data/graph/good/state.json -b 90%..90%:2 -p layer-stream --no-seconds --json
remat-plan compare --ignore-clock "$@"
remat-plan compare --ignore-clock "$@" --no-addresses
