# exit: 2
remat-plan solve data/graph/good/chain.json -b 60% --write-lp m.lp --write-solution x.sol
