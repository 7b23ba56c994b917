# exit: 0
# Of 11 points the first round has two and the others three. A command for each point, round
# after round, plans them all.
set -- data/graph/good/chain.json -n 11 -p libra -o d
for round in 1 2 3 4; do
    remat-plan sweep "$@" --jobs >jobs
    grep -o ' --share.*' jobs
    sh jobs
done
remat-plan sweep "$@" --merge --no-seconds
