# exit: 3
# A plan with copies, at the speed of another link: its two directions, and its latency.
graph=data/graph/good/chain.json
remat-plan solve $graph -b 60% -t 0.5 --ignore-clock -q -o plan.json
compare() { # SED-EXPRESSION
    sed "$1" $graph >other.json
    remat-plan profile --compare $graph other.json --plan plan.json | tail -n 3
    remat-plan profile --compare other.json $graph --plan plan.json --json |
        grep -oE '"(time_ns|stall_ns)":[0-9]*' | tr '\n' ' '
    echo
}
compare 's/"h2d_bytes_per_s": *[0-9]*/"h2d_bytes_per_s": 500000000/'
compare 's/"d2h_bytes_per_s": *[0-9]*/"d2h_bytes_per_s": 500000000/'
compare 's/"copy_latency_ns": *[0-9]*/"copy_latency_ns": 50/'
# Names are shown without what moves a terminal's cursor, and a graph without times is none.
sed '/"f1"/ { s/"f1"/"f\\u001b[2J1"/; s/"kind": *"[^"]*"/"kind": "a\\u001b[2Jb"/ }' $graph >names.json
remat-plan profile --compare names.json names.json | cat -v
sed 's/"time_ns": *[0-9]*/"time_ns": 0/g' $graph >none.json
remat-plan profile --compare none.json $graph
remat-plan profile --compare $graph none.json
