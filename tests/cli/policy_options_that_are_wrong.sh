# exit: 2
for options in lb lb= lb=-1 lb=x fuse-swapins=1 ctrld swap-in=3 lb=5:ub=4 '' :lb=1; do
    remat-plan solve data/graph/good/chain.json --budget 80% --policy "tflms:$options"
done
remat-plan compare data/graph/good/chain.json -p tflms:lb=1,dtr,tflms:lb=2
remat-plan compare data/graph/good/chain.json -p 'dtr,,tflms'
remat-plan maxbatch resnet18 -d p100-16g --policy :lb=1
