# exit: 2
remat-plan solve --ignore-clock --bogus # before the files are looked at
