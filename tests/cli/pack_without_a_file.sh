# exit: 2
remat-plan pack
