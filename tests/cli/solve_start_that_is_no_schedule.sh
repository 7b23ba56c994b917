# exit: 0
# f1 runs once only and its output comes back from the host, which the search may not do. The
# user of --start is told; sweeps and the like hand plans over by themselves and are silent.
sed 's/"name": "f1", "kind"/"recompute": false, "name": "f1", "kind"/' data/graph/good/chain.json >g.json
remat-plan solve g.json -b 60% -p alibaba -q -o p.json
remat-plan solve g.json -b 80% --start p.json --no-swap -t 0.1 --ignore-clock >out
