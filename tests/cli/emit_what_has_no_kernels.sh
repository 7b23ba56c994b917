# exit: 3
remat-plan emit --target c -o here data/verify/net.json data/verify/keep.json
