# exit: 2
remat-plan show --bogus
