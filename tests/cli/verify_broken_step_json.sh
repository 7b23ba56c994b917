# exit: 1
sed '/"free":2/d' data/verify/keep.json >p.json
remat-plan verify --json data/verify/net.json p.json
