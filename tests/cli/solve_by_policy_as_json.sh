# exit: 0
remat-plan solve data/graph/good/chain.json --budget 100% --policy keep-all -o plan.json --json && remat-plan verify data/graph/good/chain.json plan.json
