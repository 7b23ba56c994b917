# exit: 0
set -e
remat-plan sweep data/graph/good/chain.json -n 3 -t 1 --no-addresses -q -o a
for k in a/point-*.plan.json; do remat-plan verify -q data/graph/good/chain.json $k; done
head -n 1 a/sweep.csv
remat-plan sweep data/graph/good/chain.json -n 3 -t 1 --no-addresses -q -o b --jobs >jobs
head -n -1 jobs | sh
tail -n 1 jobs | sh >b.out
wc -l <b/sweep.csv
ls b
