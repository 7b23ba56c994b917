# exit: 2
remat-plan optimise
