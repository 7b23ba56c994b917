# exit: 0
set -e
g=data/graph/good/any_home.json
remat-plan solve $g --budget 1500 -t 0.1 --ignore-clock -o p.json
remat-plan verify $g p.json
