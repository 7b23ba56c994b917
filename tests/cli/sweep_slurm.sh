# exit: 0
cp data/graph/good/chain.json "it's.json"
remat-plan sweep data/graph/good/*.json -n 100 -p libra -o d --slurm
remat-plan sweep "it's.json" data/graph/good/small.json -b 80%,90% -o "it's" --slurm --html
