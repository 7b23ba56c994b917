#!/bin/bash
# check-bad.sh [--accept]: every file under tests/data/{graph,plan}/bad must be refused with
# exit code 3, no standard output, and exactly the line in NAME.err on standard error. Every
# file under good/ must be accepted. --accept rewrites the .err files.
set -u
export LC_ALL=C
build=$(realpath "${BUILD:-build}")
data=$(realpath "$(dirname "$0")/../tests/data")
accept=${1-}
good=0 bad=0
out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT

# `verify GRAPH PLAN` reads the graph first and then the plan.
run() {
    "$build/remat-plan" verify "$@" >"$out" 2>"$err" </dev/null
}

count() { # STATUS WHAT
    if [ "$1" = 0 ]; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "FAILED bad-input: $2"
    fi
}

refused() { # NAME; called after run with the exit code in $status
    if [ "$accept" = --accept ]; then
        cp "$err" "$1.err"
    fi
    [ "$status" = 3 ] && [ ! -s "$out" ] && diff -u "$1.err" "$err"
    count $? "$PWD/$1.json (exit code $status)"
}

for kind in graph plan; do
    cd "$data/$kind/bad" || exit 1
    for file in *.json; do
        case $kind in
        graph) run "$file" ../../plan/good/small.json ;;
        plan) run ../../graph/good/small.json "$file" ;;
        esac
        status=$?
        refused "${file%.json}"
    done
done

cd "$data" || exit 1
for plan in plan/good/*.json; do
    graph=graph/good/$(basename "$plan")
    run "$graph" "$plan"
    status=$?
    [ $status = 0 ]
    count $? "$data/$plan (exit code $status): $(cat "$out" "$err")"
done

echo "bad-input: $good passed, $bad failed"
[ $bad = 0 ]
