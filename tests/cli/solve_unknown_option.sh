# exit: 2
remat-plan solve --bogus # before the files are looked at
