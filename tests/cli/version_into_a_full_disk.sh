# exit: 5
remat-plan --version >/dev/full
