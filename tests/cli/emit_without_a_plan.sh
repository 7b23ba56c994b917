# exit: 2
remat-plan emit --target c -o here data/verify/net.json
