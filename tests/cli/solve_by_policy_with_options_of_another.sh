# exit: 2
solve() { remat-plan solve data/graph/good/chain.json --budget 80% "$@"; }
solve --lb 3
solve --policy vdnn-all:lb=1
solve --policy remat:branch-threshold=0
solve --policy vdnn-all --gap 0
solve --policy vdnn-all --ignore-clock
remat-plan maxbatch resnet18 -d p100-16g --policy dtr:ctrld=chain_rule
remat-plan compare data/graph/good/chain.json -p dtr,capuchin:fuse-swapins
