# exit: 0
remat-plan show --help
