# exit: 0
# With -v twice, what GLPK says goes to the log, and not to standard output.
remat-plan solve data/graph/good/chain.json -b 60% -t 0.1 --ignore-clock -v -v -o p.json >out 2>err
grep -q 'glpk: OPTIMAL LP SOLUTION FOUND' err && echo logged
grep -q OPTIMAL out || echo apart
remat-plan solve data/graph/good/chain.json -b 60% -t 0.1 --ignore-clock -v -o p.json >out 2>err
grep -q glpk err || echo less
