# exit: 0
remat-plan pack --help
