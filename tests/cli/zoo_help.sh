# exit: 0
remat-plan zoo --help
