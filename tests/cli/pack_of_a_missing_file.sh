# exit: 5
remat-plan pack missing.csv
