# exit: 0
# The swap-out starts at 30 ns and takes 37 ns. The last op ends at 60 ns.
sed -e 's/{"run": 2/{"swap_out": 2, "host_at": 0}, &/' -e '/{"free": 2}/d' \
    -e 's/"time_ns": 60/"time_ns": 67/; s/"host_bytes": 0/"host_bytes": 32/; s/optimal/none/' \
    data/plan/good/small.json >plan.json
remat-plan verify data/graph/good/small.json plan.json
remat-plan show data/graph/good/small.json plan.json | sed -n '/^time/p'
remat-plan profile --compare data/graph/good/small.json data/graph/good/small.json --plan plan.json | tail -n 2
