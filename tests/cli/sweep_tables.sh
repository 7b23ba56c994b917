# exit: 0
# All of a table, with plans and without, of a whole sweep and of a part.
chain=data/graph/good/chain.json
set -- $chain -b 600,700,1216,64% -p libra --host-budget 256 -o d
remat-plan sweep "$@" --share 1/2
remat-plan sweep "$@" --merge --no-seconds
cat d/sweep.json d/sweep.csv
remat-plan sweep "$@" --no-seconds --json >report.json
cmp report.json d/sweep.json
cat report.json d/sweep.csv
tail -n 1 d/chain/700.point.json | sed -E 's/"solver_ns":[1-9][0-9]*}/"solver_ns":N}/'
# The clock is asked unless --no-seconds is given.
remat-plan sweep "$@" | sed -E 's/ [ 0-9]{5}\.[0-9]{2} s$/         S s/'
remat-plan sweep "$@" --share 1/2
sed -E 's/,[0-9]+\.[0-9]{2}$/,S/' d/sweep.csv
sed -E 's/"solver_seconds":[0-9]+\.[0-9]{2}}/"solver_seconds":S}/g' d/sweep.json
sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' d/chain/curve.svg
grep -c '<path\|<polyline\|<circle' d/chain/curve.svg
# Bounds of a search hold for smaller budgets too.
remat-plan sweep $chain -b 60%,70% -t 0.1 --ignore-clock --no-addresses --no-seconds -o e
rm d/chain/600.point.json
remat-plan sweep "$@" --merge -q
sed -E 's/,[0-9]+\.[0-9]{2}$/,S/' d/sweep.csv
# A row shows the best plan so far, with the bound of its own budget.
remat-plan solve $chain -b 70% -p chen-sqrt --no-addresses -q -o e/chain/851.plan.json
remat-plan sweep $chain -b 60%,70% -t 0.1 --ignore-clock --no-addresses --no-seconds -o e --merge
# A search may end far from the bound.
remat-plan sweep $chain -b 60% --gap 30 --ignore-clock --no-seconds -o f
