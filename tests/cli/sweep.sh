# exit: 0
set -e
chain=data/graph/good/chain.json
remat-plan sweep $chain -p libra -n 9 --no-addresses --no-seconds -o a
cat a/sweep.csv
ls a
# The plans of a search are the same in other hands: a command for each point, round after
# round.
set -- $chain -n 6 -t 0.1 --ignore-clock --no-addresses
remat-plan sweep "$@" --no-seconds -o one -q
for k in one/chain/*.plan.json; do remat-plan verify -q $chain $k; done
for round in 1 2 3 4; do
    remat-plan sweep "$@" -o many --jobs >jobs
    wc -l <jobs
    sh jobs
done
remat-plan sweep "$@" --no-seconds -o many --merge -q
diff -r -x '*.point.json' one many
