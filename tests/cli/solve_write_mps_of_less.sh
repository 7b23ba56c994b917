# exit: 0
# What the plan may not do is not in the model.
graph=data/graph/good/chain.json
size() { # the model's, and the reason if it has none
    echo "$*: $(remat-plan solve $graph --write-mps m.mps "$@" 2>&1)"
}
size -b 80%
size -b 80% --no-swap
size -b 100% --no-swap --no-recompute
size -b 80% --no-swap --no-recompute
size -b 80% --host-budget 0
size -b 64
size -b 63
