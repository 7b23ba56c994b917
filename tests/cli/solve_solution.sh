# exit: 0
remat-plan solve data/graph/good/small.json -b 120% --write-lp m.lp -q
echo "# Objective value = 3.75" >x.sol
awk '/^Bounds/ { b = 1; next } /^Generals/ { b = 0 }
    b { for (i = 1; i <= NF; i++) if ($i ~ /^[A-Za-z]/) print $i, ($i ~ /^(S_|ONE)/) }' m.lp >>x.sol
remat-plan solve data/graph/good/small.json -b 120% --solution x.sol -o plan.json
remat-plan verify data/graph/good/small.json plan.json
