# exit: 2
remat-plan show a b c
