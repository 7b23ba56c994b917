# exit: 0
set -e
g=data/graph/good/any_home.json
remat-plan solve $g --budget 1700 -t 1 --ignore-clock -o p.json
remat-plan verify $g p.json --no-replay
remat-plan solve $g --budget 1500 --host-budget 499 -t 1 --ignore-clock || echo "exit code $?"
remat-plan solve $g --budget 1500 -t 1 --ignore-clock
