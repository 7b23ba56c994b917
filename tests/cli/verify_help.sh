# exit: 0
remat-plan verify --help
