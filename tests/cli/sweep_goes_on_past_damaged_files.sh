# exit: 0
# Points whose plan or record is gone, cut short or another's are planned again, and the end is
# the same. Without planning they count as not planned.
set -e
set -- data/graph/good/chain.json -n 6 -t 0.1 --ignore-clock --no-seconds -q -o d
remat-plan sweep "$@"
cp -r d whole
again() {
    remat-plan sweep "$@" --merge || echo "exit code $?"
    grep -o '"complete":[a-z]*' d/sweep.json
    remat-plan sweep "$@" 2>/dev/null
    diff -r -x '*.point.json' whole d && echo same
}
rm d/chain/640.plan.json
again "$@"
echo '{}' >d/chain/640.plan.json
echo '{"graph_sha256":"' >d/chain/1216.point.json
again "$@"
sed -i 's/"budget_bytes":640/"budget_bytes":641/' d/chain/640.plan.json
again "$@"
: >d/chain/640.plan.json
again "$@"
