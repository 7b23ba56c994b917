# exit: 0
# A page has each plan once, also where it is shown at two budgets because that of the larger
# one is worse.
set -- data/graph/good/chain.json -b 600,640,709,911 -p libra --no-seconds -o d
remat-plan sweep "$@" -q
sed 's/"budget_bytes":640/"budget_bytes":911/; s/"lower_bound_ns":1080/"lower_bound_ns":1200/; s/"proof":"none"/"proof":"bounded"/' \
    d/chain/640.plan.json >d/chain/911.plan.json
remat-plan sweep "$@" --merge --html
sed -n 's/^<script.*id="plan-\([0-9]*\)">{.*"kinds":"\([a-z]*\)".*/plan \1: \2/p' d/chain/curve.html
grep 'id="data">' d/chain/curve.html | sed 's/.*"entries"://; s/"kinds":.*//; s/"rise":\[[^]]*\]/"rise":[...]/; s/"curve":\[[0-9,]*\]/"curve":[...]/g'
