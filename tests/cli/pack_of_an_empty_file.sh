# exit: 3
: >empty.csv
remat-plan pack empty.csv
