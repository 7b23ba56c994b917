# exit: 2
remat-plan solve data/graph/good/small.json --budget=8PiB
remat-plan solve data/graph/good/small.json --budget=8gigagigagigagigagigabytes
