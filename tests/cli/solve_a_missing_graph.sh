# exit: 5
remat-plan solve --ignore-clock missing.json --budget 8GiB
