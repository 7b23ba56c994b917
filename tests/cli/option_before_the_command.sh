# exit: 2
remat-plan --json solve
