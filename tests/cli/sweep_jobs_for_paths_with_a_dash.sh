# exit: 0
# The printed commands take such paths as files, not as options.
cp data/graph/good/chain.json ./-g.json
remat-plan sweep -n 2 -p libra -o -d --jobs -- -g.json >jobs
cat jobs
sh jobs
remat-plan sweep -n 2 -p libra -o -d --merge --no-seconds -- -g.json
remat-plan sweep -n 2 -p libra -o -d --jobs -- -g.json
# A folder may be called so, but no graph.
remat-plan sweep -o - data/graph/good/chain.json -b 80% -p libra --jobs
