# exit: 0
remat-plan --help
