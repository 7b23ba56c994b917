# exit: 2
remat-plan emit --target c data/verify/net.json data/verify/keep.json
