# exit: 5
remat-plan --help >&-
