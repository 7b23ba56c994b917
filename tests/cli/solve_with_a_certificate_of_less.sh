# exit: 0
# What exhaustive search proves beyond the rows has no certificate. solve says so itself.
sed 's/"bytes": 10/"bytes": 36028797018963969/' data/certificate/loop.json >g.json
remat-plan solve --ignore-clock g.json -b 100000000GB --no-addresses -o p.json --certificate c.json
remat-plan verify --certificate c.json g.json p.json | tail -n 1
remat-plan solve --ignore-clock g.json -b 100000000GB --no-addresses --json -q -o p.json --certificate /dev/null | grep -c '"status"'
