# exit: 0
remat-plan --version
