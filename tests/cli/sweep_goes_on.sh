# exit: 0
# Finished points are not planned again, and the end is the same as without the interrupt.
set -e
chain=data/graph/good/chain.json
set -- $chain -n 6 -t 0.1 --ignore-clock --no-seconds
remat-plan sweep "$@" -o whole -q
remat-plan sweep "$@" -o parts --share 1/2
ls parts/chain
cp -r parts before
remat-plan sweep "$@" -o parts --merge || echo "exit code $?"
remat-plan sweep "$@" -o parts -q
diff -r -x '*.point.json' whole parts && echo same
cmp before/chain/*.point.json parts/chain/$(cd before/chain && echo *.point.json) && echo kept
