# exit: 0
# The printed commands take such paths as files, not as options.
cp data/graph/good/chain.json ./-g.json
remat-plan sweep -n 2 -p libra -o -d --jobs -- -g.json >jobs
cat jobs
sh jobs
remat-plan sweep -n 2 -p libra -o -d --merge --no-seconds -- -g.json
remat-plan sweep -n 2 -p libra -o -d --jobs -- -g.json
