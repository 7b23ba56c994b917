# exit: 2
for n in 0 1000001; do
    remat-plan verify --replay ref --steps $n data/verify/net.json data/verify/keep.json
done
