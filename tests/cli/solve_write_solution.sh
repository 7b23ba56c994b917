# exit: 0
# The plan comes back from the file, of which other solvers take the values too.
graph=data/graph/good/chain.json
remat-plan solve $graph -b 60% --no-swap --ignore-clock -t 0.1 -o plan.json
remat-plan solve $graph -b 60% --start plan.json --write-lp m.lp --write-solution start.sol
head -7 start.sol
awk '!/^#/ && $2 != 0 && /^[ROU]/' start.sol
remat-plan solve $graph -b 60% --solution start.sol -o back.json
remat-plan verify $graph back.json
remat-plan solve $graph -b 60% --start plan.json --write-solution - | cmp - start.sol
peak=$(grep -o '"peak_bytes": *[0-9]*' plan.json | grep -o '[0-9]*$')
remat-plan solve $graph -b "$peak" --start plan.json --write-solution exact.sol
