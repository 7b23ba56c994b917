# exit: 0
# The whole report, but for how long it took and what it used.
report() {
    remat-plan solve "$@" -t 0.1 --ignore-clock --json |
        sed -E 's/("moves"|"seconds"|"max_rss_bytes"):[0-9.]+/\1:N/g'
}
chain=data/graph/good/chain.json
report $chain -b 60%
report $chain -b 60% --no-swap --no-addresses --gap 20
report data/graph/good/any_home.json -b 1500
report $chain -b 640 --no-swap --no-recompute
# Memory is that of the process or of a child, whichever is more. Both stay what they were
# where a shell becomes the program.
memory() {
    bash -c "$1; exec remat-plan solve --ignore-clock data/graph/good/small.json -b 128 --json" |
        sed -E 's/.*"max_rss_bytes":([0-9]+).*/\1/' |
        awk '{ print $1 < 2 ^ 20 ? "none" : $1 < 80 * 2 ^ 20 ? "little" : $1 < 2 ^ 30 ? "much" : "?" }'
}
memory :
memory 'head -c 90M /dev/zero | tail -c 90M >/dev/null'
memory 'x=$(head -c 90M /dev/zero | tr "\0" x)'
