# exit: 0
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
# Stating the default values changes nothing.
compare() { remat-plan compare --no-seconds p.json -b 90% -p "$1" | tail -n +5; }
compare tflms
compare tflms:lb=1:ub=10000:ctrld=chain_rule:branch-threshold=0
compare keep-all,tflms:fuse-swapins:n-tensors=3,libra
compare tflms:ctrld=direct_order:lb=4
