# exit: 2
remat-plan solve --ignore-clock data/graph/good/small.json --budget=8PiB
remat-plan solve --ignore-clock data/graph/good/small.json --budget=8gigagigagigagigagigabytes
