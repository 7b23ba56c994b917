# exit: 0
remat-plan completion --help
