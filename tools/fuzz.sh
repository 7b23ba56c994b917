#!/bin/bash
# fuzz.sh SECONDS NAME...: runs each fuzz target for SECONDS, one after the other. The corpus
# is kept in BUILD/corpus-NAME. An input that causes a fault is kept there too, and the exit
# code is then 1.
set -u
build=${BUILD:-build/fuzz}
seconds=$1
shift
failed=0
for name; do
    corpus=$build/corpus-$name
    mkdir -p "$corpus"
    mapfile -t seeds < <(tools/seeds.sh "$name" --folders)
    echo "fuzz $name: $seconds s, log in $build/fuzz-$name.log"
    if nice "$build/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
        -dict="tests/fuzz/$name.dict" -artifact_prefix="$corpus/finding-" \
        -print_final_stats=1 "$corpus" "${seeds[@]}" >"$build/fuzz-$name.log" 2>&1; then
        grep -w DONE "$build/fuzz-$name.log"
        grep -E '^stat::(number_of_executed_units|peak_rss_mb)' "$build/fuzz-$name.log"
    else
        tail -n 40 "$build/fuzz-$name.log"
        echo "FAILED fuzz $name"
        failed=$((failed + 1))
    fi
done
echo "fuzz: $(($# - failed)) passed, $failed failed"
[ "$failed" = 0 ]
