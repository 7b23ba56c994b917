# exit: 2
solve() { remat-plan solve data/graph/good/chain.json --budget 80% "$@"; }
solve --policy vdnn-all --no-swap
solve --policy dtr --no-recompute
solve --policy checkmate --no-recompute
