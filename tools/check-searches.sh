#!/bin/bash
# check-searches.sh [--accept]: searches of counted work on networks of the zoo. Each row of
# tests/searches says a network, a device, the options of solve, and the time and the bound
# that are expected. A row passes if
#   - solve finds a plan, twice the same bytes, and verify accepts it;
#   - the plan takes at most 0.5% longer than the row says;
#   - the bound is at most 1% of the time below the row's, and not above the time.
# --accept writes the times and bounds that were found instead.
set -u
part=searches
. tools/try.sh
table=tests/searches
program=$build/remat-plan

field() { # NAME; of the JSON report on standard input
    sed -nE "s/.*\"$1\":([0-9]+).*/\1/p"
}

graph() { # NETWORK DEVICE
    # shellcheck disable=SC2086
    "$program" zoo $1 -q -o "$tmp/net.json" &&
        "$program" profile "$tmp/net.json" --device "$2" -q -o "$tmp/graph.json"
}

search() { # PLAN OPTIONS
    # shellcheck disable=SC2086
    "$program" solve "$tmp/graph.json" $2 --ignore-clock --json -o "$tmp/$1.json" >"$tmp/$1.report"
}

good_enough() { # TIME BOUND EXPECTED-TIME EXPECTED-BOUND
    awk -v t="$1" -v b="$2" -v time="$3" -v bound="$4" 'BEGIN {
        ok = t > 0 && b <= t && t <= 1.005 * time && b >= bound - 0.01 * time
        if (!ok) printf "time %d ns, expected at most %d + 0.5%%; bound %d ns, expected at least %d - 1%% of the time\n", t, time, b, bound
        exit !ok
    }'
}

: >"$tmp/rows"
while IFS='|' read -r network device options expected; do
    if [[ $network = '#'* ]]; then
        echo "$network${device:+|$device|$options|$expected}" >>"$tmp/rows"
        continue
    fi
    device=${device// /}
    read -r time bound <<<"$expected"
    name="${network%% }: $options"
    if ! graph "$network" "$device" || ! search a "$options"; then
        try "$name: a plan" false
        continue
    fi
    search b "$options"
    got_time=$(field time_ns <"$tmp/a.report") got_bound=$(field lower_bound_ns <"$tmp/a.report")
    try "$name: the same bytes again" cmp "$tmp/a.json" "$tmp/b.json"
    try "$name: valid" "$program" verify "$tmp/graph.json" "$tmp/a.json" -q
    if [ "${1-}" = --accept ]; then
        time=$got_time bound=$got_bound
    fi
    try "$name: as good as before" good_enough "$got_time" "$got_bound" "${time:-0}" "${bound:-0}"
    printf '%s|%s|%s| %s %s\n' "$network" " $device " "$options" "$time" "$bound" >>"$tmp/rows"
done <"$table"
[ "${1-}" != --accept ] || cp "$tmp/rows" "$table"
end_part
