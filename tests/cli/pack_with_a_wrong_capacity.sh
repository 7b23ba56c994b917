# exit: 2
remat-plan pack b.csv --capacity -1
