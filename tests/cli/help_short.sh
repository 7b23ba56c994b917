# exit: 0
remat-plan -h
