# exit: 0
set -e
solve() {
    echo "$*: $(remat-plan solve data/graph/good/chain.json --budget 80% -t 1 --json "$@" |
        grep -oE '"(status|recompute_ns|host_bytes|out_bytes)":[^,]*' | tr '\n' ' ')"
}
for policy in "remat --ignore-clock" capuchin; do
    solve --policy $policy
    solve --policy $policy --no-swap
    solve --policy $policy --host-budget 64
done
solve --policy remat --ignore-clock --no-recompute
solve --policy vdnn-all --no-recompute
remat-plan solve data/graph/good/chain.json --budget 80% --policy vdnn-all --host-budget 64 || [ $? = 1 ]
