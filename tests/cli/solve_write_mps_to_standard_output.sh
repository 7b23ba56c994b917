# exit: 0
remat-plan solve data/graph/good/chain.json -b 60% --write-mps - | grep -E '^(NAME| N|ENDATA)'
