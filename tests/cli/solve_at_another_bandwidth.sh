# exit: 0
set -e
remat-plan solve data/graph/good/chain.json --budget 60% -t 1 --ignore-clock --h2d 1000 --d2h 1000 \
    --graph-out fast.json -o plan.json
remat-plan verify -q fast.json plan.json
remat-plan solve data/graph/good/chain.json --budget 60% -t 1 --ignore-clock --d2h 0 --json |
    grep -o '"swapped_out_bytes":[0-9]*'
# A graph without a device gets one.
grep -v '^"device"' data/graph/good/chain.json >none.json
remat-plan solve none.json -b 4000 -t 0.1 --ignore-clock --h2d 10 --d2h 10 --graph-out set.json -o plan.json -q
remat-plan verify set.json plan.json | grep '^steps'
