# exit: 3
printf "id,lower,upper,size\na,2,1,5\n" >b.csv
remat-plan pack b.csv
