# exit: 0
# Ops take so long that plans which run one again, or copy over this link, pass 2^63 ns. Only
# their rows fail.
sed 's/"time_ns": *[0-9]*/"time_ns": 500000000000000000/; s/"copy_latency_ns": 5/"copy_latency_ns": 4000000000000000000/' data/graph/good/chain.json >g.json
remat-plan compare --ignore-clock --no-seconds g.json -b 70% -t 1 -p keep-all,chen-sqrt,vdnn-all,dtr,remat --csv t.csv
cut -d, -f1,2 t.csv
