# exit: 5
remat-plan solve missing.json --budget 8GiB
