# exit: 0
remat-plan compare --no-seconds data/graph/good/chain.json --activation-budget 75%,512 -p chen-sqrt --csv -
