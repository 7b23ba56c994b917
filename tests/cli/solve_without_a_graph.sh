# exit: 2
remat-plan solve --ignore-clock --budget 8GiB
