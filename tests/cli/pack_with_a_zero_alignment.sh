# exit: 2
printf "id,lower,upper,size\na,0,2,5\n" >b.csv
remat-plan pack b.csv --alignment 0
