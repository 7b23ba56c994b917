#!/bin/bash
# bench/run.sh [FOLDER]: plans every case, checks every plan, prints a table and writes a
# JSON object a case to BUILD/bench/results.jsonl.
#
# Without FOLDER the cases are bench/cases: network, options, device, budgets. With one,
# every FOLDER/*.graph.json, at the budgets in BUDGETS (80% by default; a share is of the
# keep-all peak). TIME_LIMIT is the seconds each plan may take (10), SOLVE more options.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
limit=${TIME_LIMIT:-10}
out=$build/bench
mkdir -p "$out"
: >"$out/results.jsonl"
total=0 wrong=0

field() { # NAME: a number or word of the JSON object on standard input
    sed -nE "s/.*\"$1\":\"?([^,\"}]*).*/\1/p"
}

percent() { # A B: how far A is above B
    awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.3f%%", 100 * (a / b - 1); else print "-" }'
}

one() { # GRAPH BUDGET
    local name plan=$out/plan.json json status checked started seconds
    name=$(basename "$1" .graph.json)
    started=$(date +%s.%N)
    # SOLVE is a list of options, so its words are split on purpose.
    # shellcheck disable=SC2086
    json=$("$build/remat-plan" solve "$1" --budget "$2" --time-limit "$limit" --json \
        -o "$plan" ${SOLVE:-} 2>"$out/stderr")
    status=$?
    seconds=$(date +%s.%N | awk -v t="$started" '{ printf "%.1f", $1 - t }')
    total=$((total + 1))
    if [ $status = 1 ]; then
        checked=infeasible
    elif [ $status != 0 ]; then
        checked="exit code $status: $(cat "$out/stderr")"
        wrong=$((wrong + 1))
    elif "$build/remat-plan" verify -q "$1" "$plan" >/dev/null 2>"$out/stderr"; then
        checked=valid
    else
        checked="REJECTED $(cat "$out/stderr")"
        wrong=$((wrong + 1))
    fi
    printf '{"case":"%s","budget":"%s","seconds":%s,"verify":"%s","solve":%s}\n' \
        "$name" "$2" "$seconds" "${checked%% *}" "${json:-null}" >>"$out/results.jsonl"
    local time base bound proof
    time=$(field time_ns <<<"$json")
    base=$(field baseline_time_ns <<<"$json")
    bound=$(field lower_bound_ns <<<"$json")
    proof=$(field proof <<<"$json")
    printf '%-28s %12s %11s %9s %8s %7s  %s\n' "$name" "$2" \
        "$(percent "${time:-0}" "${base:-0}")" "$(percent "${time:-0}" "${bound:-0}")" \
        "${proof:--}" "$seconds" "$checked"
}

printf '%-28s %12s %11s %9s %8s %7s\n' case budget overhead gap proof seconds
if [ $# -gt 0 ]; then
    for graph in "$1"/*.graph.json; do
        for budget in ${BUDGETS:-80%}; do
            one "$graph" "$budget"
        done
    done
else
    while read -r name network options device budgets; do
        case $name in '' | '#'*) continue ;; esac
        graph=$out/$name.graph.json
        # Options are written with commas for spaces.
        IFS=, read -ra words <<<"$options"
        "$build/remat-plan" zoo -q "$network" "${words[@]}" -o "$out/zoo.json" >/dev/null &&
            "$build/remat-plan" profile -q "$out/zoo.json" --device "$device" -o "$graph" \
                >/dev/null || exit 1
        for budget in $budgets; do
            one "$graph" "$budget"
        done
    done <"$here/bench/cases"
fi
echo "$((total - wrong)) of $total cases answered and checked; $out/results.jsonl has all figures"
[ $wrong = 0 ] && [ $total -gt 0 ]
