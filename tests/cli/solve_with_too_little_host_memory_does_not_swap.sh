# exit: 0
set -e
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --host-budget 1 --json |
    grep -o '"swapped_out_bytes":[0-9]*'
