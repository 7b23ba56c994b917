# exit: 0
# A policy that searches gets the limit and the seed of the search; others have their own
# options, also where none is given.
remat-plan zoo densenet121 --tiny -o network.json -q
remat-plan profile network.json --device v100-16g -o graph.json -q
report() {
    remat-plan solve graph.json -b 75% --json "$@" |
        grep -oE '"(time_ns|recompute_ns|peak_bytes|in_bytes)":[0-9]*'
}
search='-p remat --ignore-clock -t'
report $search 0.02 >first
report $search 0.02 | cmp - first && echo "the same again"
report $search 0.02 --seed 2 | cmp -s - first || echo "another seed, another plan"
report $search 0.3 | cmp -s - first || echo "another limit, another plan"
grep -o '"in_bytes":[1-9]' first | wc -l
report -p tflms --no-addresses
