# exit: 0
set -e
# The smallest budget leaves on the device only what must be there. Policies that leave all
# sources there begin with more.
any=data/graph/good/any_home.json
set -- -n 4 -t 0.1 --ignore-clock --no-seconds
remat-plan sweep $any "$@" -o search
remat-plan sweep $any "$@" -o policy -p libra
# With sources on the host, other orders are looked for too, where the graph leaves it free.
remat-plan sweep data/graph/good/state.json "$@" -o state
# A rule of one policy proves nothing about all plans.
remat-plan sweep data/graph/good/chain.json "$@" -o chain -p zero-offload
