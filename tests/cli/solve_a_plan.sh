# exit: 3
remat-plan solve data/plan/good/small.json --budget 8GiB
