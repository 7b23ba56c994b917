# exit: 0
printf 'id,lower,upper,size\na,0,2,5\nb,1,3,5\n' >b.csv
sed 's/"free":2/"free":1/' data/verify/keep.json >broken.json
no() {
    echo "-- $1"
    remat-plan "$@" -q
    echo "exit $?"
}
no pack b.csv --capacity 9
no solve data/graph/good/chain.json --budget 64
no solve data/graph/good/chain.json --budget 60% --policy keep-all
no maxbatch resnet18 -d p100-16g -b 1MiB -p libra
no show data/verify/net.json broken.json
no emit data/verify/net.json broken.json --target c -o here
no emit data/verify/net.json broken.json --target c -o here --json
