# exit: 2
remat-plan solve data/solve/chain.json --budget 50% --policy libra --stats
