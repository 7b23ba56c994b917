# exit: 0
remat-plan compare --help
