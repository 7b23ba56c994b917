# exit: 0
# The peak is 6. No arena of 6 exists, which takes a search to prove.
cat >b.csv <<END
id,lower,upper,size
a,0,1,2
b,0,1,2
c,0,2,2
d,1,2,3
e,2,3,2
f,2,3,2
g,1,4,1
h,3,4,1
i,2,5,1
j,4,5,2
k,3,6,3
l,5,6,3
m,6,7,1
n,6,7,1
o,6,7,2
p,6,7,1
END
pack() {
    echo "-- $*"
    remat-plan pack b.csv "$@" || echo "exit $?"
}
pack
pack --json
for capacity in 5 6 7 8; do
    pack --capacity $capacity
    pack --capacity $capacity --json
done
pack --capacity 6 --work-limit 0
pack --alignment 2 --capacity 12 -o out.csv
cat out.csv
