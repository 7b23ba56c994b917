# exit: 3
remat-plan solve --ignore-clock data/plan/good/small.json --budget 8GiB
