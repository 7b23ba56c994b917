# exit: 0
# A plan may claim no bound at all. The sum of op times is one of every plan.
set -- data/graph/good/chain.json -b 1216 -p keep-all -o d --no-seconds -q
remat-plan sweep --ignore-clock "$@"
sed -i 's/"lower_bound_ns":1080/"lower_bound_ns":0/; s/"proof":"optimal"/"proof":"none"/' d/chain/1216.plan.json
remat-plan sweep --ignore-clock "$@" --merge
cat d/sweep.json d/sweep.csv
