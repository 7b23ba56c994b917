# exit: 0
remat-plan compare data/graph/good/chain.json --activation-budget 75%,512 -p chen-sqrt --csv -
