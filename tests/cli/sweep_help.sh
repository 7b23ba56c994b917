# exit: 0
remat-plan sweep --help
