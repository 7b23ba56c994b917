# exit: 0
remat-plan solve --ignore-clock data/graph/good/small.json --budget 128 -o plan.json >&-
echo "exit $?"
cmp plan.json <(remat-plan solve --ignore-clock data/graph/good/small.json --budget 128 -o -)
