# exit: 4
# What is known without a plan: the least size that one was found for, or why there is none.
remat-plan zoo densenet121 --tiny -o network.json -q
remat-plan profile network.json --device v100-16g -o graph.json -q
none="remat-plan solve graph.json -b 132000 --no-swap --ignore-clock -q -t"
$none 0.00001 --json --stats | grep -oE '"(status|least_bytes_found|methods)":[^,]*'
$none 0.00001 | tail -n 1
$none 0.2 2>&1
