# exit: 0
# The plan of a solution that keeps all, with copies or without.
graph=data/graph/good/small.json
remat-plan solve $graph -b 120% --write-lp m.lp -q
echo "# Objective value = 3.75" >x.sol
awk '/^Bounds/ { b = 1; next } /^Generals/ { b = 0 }
    b { for (i = 1; i <= NF; i++) if ($i ~ /^[A-Za-z]/) print $i, ($i ~ /^(S_|ONE)/) }' m.lp >>x.sol
report() {
    remat-plan solve $graph -b 120% --solution x.sol "$@" |
        sed -E 's/"max_rss_bytes":[0-9]+/"max_rss_bytes":N/'
}
report
report --json
report -o - | head -n 1
report -q
