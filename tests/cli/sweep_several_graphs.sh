# exit: 0
# One table for all, however many processes plan its points. Of budgets that are listed
# twice, one is planned.
cp data/graph/good/chain.json one.graph.json
cp data/graph/good/chain.json 'two, "2".json'
set -- *.json -b 640,700B..1200B:3,60%,640 -p libra --no-seconds
remat-plan sweep --ignore-clock "$@" -o a && cat a/sweep.csv && ls -F a
remat-plan sweep --ignore-clock "$@" -o b -q -j 3 && diff -r -x '*.point.json' a b && echo same
remat-plan sweep "$@" --host-budget 64 -o c --html --slurm | sed -n '/remat-plan/p'
# Every job does at most one round.
remat-plan sweep one.graph.json -n 6 -p libra -o d --share 0/1 && ls d/one | wc -l
