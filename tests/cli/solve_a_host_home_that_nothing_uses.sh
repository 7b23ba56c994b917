# Nothing can be copied, and nothing has to be.
sed 's/"inputs":\[0\]/"inputs":[]/; s/"inputs":\[0,1\]/"inputs":[1]/' \
    data/graph/good/host_home.json >g.json
remat-plan solve g.json --budget 41 -t 0.1 -o p.json
remat-plan verify g.json p.json
