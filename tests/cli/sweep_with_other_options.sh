# exit: 2
# What is there is not taken for something else, and not lost.
chain=data/graph/good/chain.json
remat-plan sweep --ignore-clock $chain -n 2 -t 0.1 -o d -q
remat-plan sweep --ignore-clock $chain -n 2 -t 0.2 -o d
remat-plan sweep --ignore-clock $chain -n 2 -t 0.1 --host-budget 64 -o d --merge
mkdir other && sed 's/"time_ns": 100/"time_ns": 101/' $chain >other/chain.json
remat-plan sweep --ignore-clock other/chain.json -n 2 -t 0.1 -o d
remat-plan sweep --ignore-clock $chain other/chain.json -o d
