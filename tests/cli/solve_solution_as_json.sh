# exit: 0
# The plan of a solution that keeps all, with copies or without.
graph=data/graph/good/small.json
remat-plan solve $graph -b 120% -t 0.1 --ignore-clock -q -o start.json
remat-plan solve $graph -b 120% --start start.json --write-solution x.sol -q
report() {
    remat-plan solve $graph -b 120% --solution x.sol "$@" |
        sed -E 's/"max_rss_bytes":[0-9]+/"max_rss_bytes":N/'
}
report
report --json
report -o - | head -n 1
report -q
