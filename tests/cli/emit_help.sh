# exit: 0
remat-plan emit --help
