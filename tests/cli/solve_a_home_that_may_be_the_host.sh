# exit: 0
set -e
g=data/graph/good/any_home.json
remat-plan solve --ignore-clock $g --budget 1700 -o p.json
remat-plan verify $g p.json --no-replay
remat-plan solve --ignore-clock $g --budget 1500 --host-budget 499 || echo "exit code $?"
remat-plan solve --ignore-clock $g --budget 1500
