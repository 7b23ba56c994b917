# exit: 2
solve() { remat-plan solve data/graph/good/chain.json --budget 80% --no-addresses "$@"; }
solve --policy pytorch
solve --policy pytorch:budget=0.25 --json
for share in 2 -0.5 half ''; do
    solve --policy "pytorch:budget=$share"
done
solve --policy pytorch:budget
