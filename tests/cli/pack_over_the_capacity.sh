# exit: 1
printf "id,lower,upper,size\na,0,2,5\nb,1,3,5\n" >b.csv
remat-plan pack b.csv --capacity 9
