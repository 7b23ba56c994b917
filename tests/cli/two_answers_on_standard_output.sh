# exit: 2
chain=data/graph/good/chain.json
remat-plan solve --ignore-clock $chain -b 80% -o - --json
remat-plan solve --ignore-clock $chain -b 80% -o - --certificate -
remat-plan solve --ignore-clock $chain -b 80% --h2d 1 --graph-out - -o -
remat-plan solve --ignore-clock $chain -b 80% -o both --certificate both
remat-plan maxbatch resnet18 -d p100-16g -o - --json
remat-plan maxbatch resnet18 -d p100-16g -o - -g -
remat-plan compare --ignore-clock $chain --csv - --json
remat-plan zoo resnet18 -o - --json
printf 'id,lower,upper,size\na,0,2,5\n' >b.csv
remat-plan pack b.csv -o -
