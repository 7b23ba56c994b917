# exit: 0
set -e
chain=data/graph/good/chain.json
remat-plan sweep $chain -n 6 -t 0.1 --ignore-clock --no-addresses --no-seconds -o a
for k in a/chain/*.plan.json; do remat-plan verify -q $chain $k; done
cat a/sweep.csv
ls a
# The same in other hands: one command for each point, round after round.
for round in 1 2 3; do
    remat-plan sweep $chain -n 6 -t 0.1 --ignore-clock --no-addresses -o b --jobs >jobs
    wc -l <jobs
    sh jobs
done
remat-plan sweep $chain -n 6 -t 0.1 --ignore-clock --no-addresses --no-seconds -o b --merge -q
diff -r -x '*.point.json' a b
