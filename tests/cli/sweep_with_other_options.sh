# exit: 3
# What is there is not taken for something else, and not lost.
chain=data/graph/good/chain.json
remat-plan sweep $chain -n 2 -t 0.1 -o d -q
remat-plan sweep $chain -n 2 -t 0.2 -o d
remat-plan sweep $chain -n 2 -t 0.1 --host-budget 64 -o d --merge
mkdir other && sed 's/"time_ns": 100/"time_ns": 101/' $chain >other/chain.json
remat-plan sweep other/chain.json -n 2 -t 0.1 -o d
remat-plan sweep $chain other/chain.json -o d
echo '{"graph_sha256":"' >d/chain/1216.point.json
remat-plan sweep $chain -n 2 -t 0.1 -o d
