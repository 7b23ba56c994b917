# exit: 3
# The second round starts from plans of the first.
set -- data/graph/good/chain.json -n 6 -t 0.1 --ignore-clock -o d
remat-plan sweep "$@" --share 0/1 && ls d/chain
cp d/chain/640.plan.json plan.json
echo '{}' >d/chain/640.plan.json
remat-plan sweep "$@" -q
sed 's/"budget_bytes":640/"budget_bytes":641/' plan.json >d/chain/640.plan.json
remat-plan sweep "$@" -q
remat-plan sweep "$@" -q --merge
