# exit: 5
# The work itself would fail with another message if it began.
echo no graph >g.json
mkdir a
remat-plan solve --ignore-clock g.json -b 80% -o missing/plan.json
remat-plan solve --ignore-clock g.json -b 80% --certificate missing/proof.json
remat-plan solve --ignore-clock g.json -b 80% --h2d 1 -o a/plan.json --graph-out missing/g.json
remat-plan compare --ignore-clock g.json --csv missing/t.csv
remat-plan sweep --ignore-clock data/graph/good/chain.json -o missing/folder
remat-plan sweep --ignore-clock data/graph/good/chain.json -o g.json
remat-plan pack g.json -o missing/out.csv
remat-plan maxbatch resnet18 -d p100-16g -b 1MiB -o missing/plan.json
remat-plan maxbatch resnet18 -d p100-16g -b 1MiB -o a/plan.json -g missing/g.json
status=$?
ls -A a
exit $status
