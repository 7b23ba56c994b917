# exit: 0
# b lies in the gap of a, and c where its alignment lets it. The old names of the columns are read.
cat >b.csv <<END
buffer,start,end,size,hint,alignment,gaps
a,0,9,100,-1,1,3-4 7-7@0:10
b,3,4,90,0,1,
c,5,9,10,0,64,
END
remat-plan pack b.csv -o out.csv
cat out.csv
remat-plan pack out.csv --capacity 110 || echo "exit $?"
