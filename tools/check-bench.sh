#!/bin/bash
# check-bench.sh: bench/planner shows a published result beside the graph that it is about,
# whatever the file's name, and beside no other.
set -u
part=bench
. tools/try.sh
mkdir "$tmp/bench" "$tmp/graphs"
cp bench/planner "$tmp/bench"
zoo() { # BATCH NAME
    "$build/remat-plan" zoo -q vgg16 --tiny --batch "$1" -o "$tmp/zoo.json" &&
        "$build/remat-plan" profile -q "$tmp/zoo.json" --device p100-16g \
            -o "$tmp/graphs/$2.graph.json"
}
try "a graph" zoo 2 renamed
try "another graph with the name of the published one" zoo 3 vgg16-published
digest=$(sha256sum <"$tmp/graphs/renamed.graph.json" | cut -d ' ' -f 1)
cat >"$tmp/bench/published" <<END
graph vgg16-published $digest
vgg16-published 90% given 12.345%
END
planned() {
    BUILD=$build TIME_LIMIT=0.01 BUDGETS=90% SOLVE="--no-swap --no-addresses" \
        "$tmp/bench/planner" "$tmp/graphs"
}
# The build's folder keeps the results, so the planner gets one of its own.
mkdir "$tmp/build" && ln -s "$build/remat-plan" "$tmp/build/remat-plan"
build=$tmp/build
try "bench/planner" planned
cp "$tmp/log" "$tmp/table"
published_of() { # NAME
    awk -v n="$1" '$1 == n { print $4 }' "$tmp/table"
}
try "the graph of the digest has the value" [ "$(published_of renamed)" = 12.345% ]
try "the graph of the name has none" [ "$(published_of vgg16-published)" = - ]
end_part
