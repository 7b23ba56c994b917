# exit: 2
remat-plan emit --target c -o '' data/verify/net.json data/verify/keep.json
