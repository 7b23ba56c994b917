# exit: 2
remat-plan solve --budget 8GiB
