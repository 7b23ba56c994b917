# exit: 2
chain=data/graph/good/chain.json
remat-plan sweep --ignore-clock
remat-plan sweep --ignore-clock $chain
remat-plan sweep --ignore-clock $chain -o d -n 1
remat-plan sweep --ignore-clock $chain -o d -t 0
remat-plan sweep --ignore-clock $chain -o d -j 0
remat-plan sweep --ignore-clock $chain -o d -j 257
remat-plan sweep --ignore-clock $chain -o d -p none
for budget in 40%..80% 40%:3 ..:3 80%..40%:3 40%..80%:1 40%..x:3 1GiB,; do
    remat-plan sweep --ignore-clock $chain -o d -b $budget
done
for share in 1 1/1 -1/2 a/2; do
    remat-plan sweep --ignore-clock $chain -o d --share $share
done
