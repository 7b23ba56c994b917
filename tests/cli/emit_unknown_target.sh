# exit: 2
remat-plan emit --target fpga -o here data/verify/net.json data/verify/keep.json
