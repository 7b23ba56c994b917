# exit: 0
set -o pipefail
remat-plan solve --ignore-clock data/graph/good/small.json --budget 128 -o - | head -n 2
