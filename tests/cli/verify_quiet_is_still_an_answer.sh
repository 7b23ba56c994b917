# exit: 1
sed '/"free":2/d' data/verify/keep.json >p.json
remat-plan verify -q data/verify/net.json p.json
