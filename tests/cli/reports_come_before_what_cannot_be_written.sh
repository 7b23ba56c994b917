# exit: 5
remat-plan solve --ignore-clock data/graph/good/small.json -b 128 -o /dev/full
remat-plan solve data/graph/good/chain.json -b 100% --policy keep-all -o /dev/full
remat-plan compare --no-seconds data/graph/good/chain.json -b 100% -p keep-all --csv /dev/full
printf 'id,lower,upper,size\na,0,2,5\n' >b.csv
remat-plan pack b.csv -o /dev/full | head -1
exit ${PIPESTATUS[0]}
