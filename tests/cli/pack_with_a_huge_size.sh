# exit: 3
printf "id,lower,upper,size\na,0,1,9223372036854775807\nb,0,1,1\n" >b.csv
remat-plan pack b.csv
