# exit: 1
sed 's/"time_ns": 10/"time_ns": 11/' data/graph/good/small.json >g.json
remat-plan verify g.json data/plan/good/small.json
