# exit: 2
remat-plan compare --ignore-clock
