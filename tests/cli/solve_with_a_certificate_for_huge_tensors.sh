# exit: 0
# Doubles do not hold the sums of such sizes, so there is no linear program and there are no rows.
sed 's/"bytes": 10/"bytes": 36028797018963969/' data/certificate/loop.json >g.json
remat-plan solve --ignore-clock g.json -b 500000TB --no-addresses -q -o p.json --certificate c.json
tail -n +3 c.json
remat-plan verify --certificate c.json g.json p.json | tail -n 1
