# exit: 2
printf 'id,lower,upper,size\na,0,1,8\n' >buffers.csv
remat-plan pack buffers.csv --out buffers.csv
