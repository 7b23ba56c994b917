#!/bin/bash
# check-gpu.sh: measures networks of the zoo on this machine's GPU, plans them and runs the
# plans. Each graph is profiled twice. Plans are made from the measured times for three
# budgets, with and without swaps. Each plan is emitted, built and run, and its results are
# compared bit for bit with keep-all.
#
# Writes build/check-gpu.json (a line for each plan and each profile), build/check-gpu.md
# (tables) and build/check-gpu/: the measured graphs, and the plans with swaps whose results
# were equal, with the names used in plans/ (cp build/check-gpu/*.json plans/). It ends within
# about 8 minutes; plans that there was no time for are listed as not run.
#
# Exit code: 0 if all results are equal and nothing is allocated outside the arena, 1 if not,
# 77 if there is no GPU. The errors of predictions are printed but do not matter for this.
#   NETWORKS          (resnet50 bert-base unet lstm-lm nmt mobilenet_v2)
#   OPTIONS           of zoo, such as --tiny     BUDGETS (80% 60% 40%)
#   SECONDS_FOR_ALL   (450)   SECONDS_TO_PLAN (2)   REPEAT steps to measure (20)
set -u
build=$(realpath "${BUILD:-build}")
limit=${SECONDS_FOR_ALL:-450} to_plan=${SECONDS_TO_PLAN:-2} repeat=${REPEAT:-20}
networks=${NETWORKS:-resnet50 bert-base unet lstm-lm nmt mobilenet_v2}
budgets=${BUDGETS:-80% 60% 40%}
read -ra options <<<"${OPTIONS-}"
json=$build/check-gpu.json table=$build/check-gpu.md made=$build/check-gpu
SECONDS=0

where() {
    tools/find-cuda.sh | sed -nE "s|^$1 +(/.*)|\1|p"
}
skip() {
    echo "skipped: $1"
    exit 77
}
[ -x "$build/remat-plan" ] || skip "no $build/remat-plan"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
nvcc=$(where nvcc)
[ -n "$gpu" ] || skip "no GPU (nvidia-smi names none)"
[ -n "$nvcc" ] || skip "no CUDA compiler (nvcc)"
[ -n "$(where cudnn)" ] || skip "no cuDNN"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
rm -rf "$made"
mkdir -p "$made"
# "NVIDIA H200" is h200, "NVIDIA A100-SXM4-80GB" a100-sxm4-80gb.
device=$(tr 'A-Z ' 'a-z-' <<<"${gpu#NVIDIA }")

# number JSON KEY: of a flat or nested key, such as plan_ns.eager.
number() {
    local text=$1 key
    for key in ${2//./ }; do
        text=${text#*\"$key\":}
    done
    printf '%s' "${text%%[,\}]*}"
}

# off A B: the difference of A from B in percent.
off() {
    awk -v a="$1" -v b="$2" 'BEGIN {
        if (a + 0 > 0 && b + 0 > 0) printf "%+.1f%%", 100 * (a - b) / b; else printf "-" }'
}

graph_of() {
    echo "$made/$1-$device.graph.json"
}

# measure NETWORK: profiles it twice. Returns 1 if that fails.
measure() {
    local graph first second
    graph=$(graph_of "$1")
    first=$SECONDS
    "$build/remat-plan" zoo "$1" "${options[@]}" -q -o "$tmp/$1.json" &&
        "$build/remat-plan" profile -q --repeat "$repeat" --program "$tmp/profile" -o "$graph" \
            "$tmp/$1.json" || return
    second=$SECONDS
    "$build/remat-plan" profile -q --repeat "$repeat" --program "$tmp/profile" \
        -o "$tmp/again.json" "$tmp/$1.json" || return
    local report
    report=$("$build/remat-plan" profile --compare --json "$graph" "$tmp/again.json") || return
    echo "{\"network\":\"$1\",\"seconds\":$((second - first)),\"profiles\":$report}" >>"$json"
    echo "| $1 | $((second - first)) | $(number "$report" a_ns) | $(number "$report" b_ns) |" \
        "$(off "$(number "$report" b_ns)" "$(number "$report" a_ns)") |" \
        "$(grep -oE '"whole_step":[a-z]+' "$graph" | cut -d : -f 2) |" >>"$table"
}

# plan NETWORK BUDGET SWAP: makes one plan. `plans` runs as many at once as there are
# processors.
plan() {
    local option=
    [ "$3" = no ] && option=--no-swap
    "$build/remat-plan" solve $option -t "$to_plan" -b "$2" -q -o "$tmp/$1.$2.$3.plan.json" \
        "$(graph_of "$1")" >"$tmp/$1.$2.$3.why" 2>&1
}
plans() {
    local n b s
    for b in $budgets; do
        for n in $networks; do
            for s in yes no; do
                while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
                    wait -n
                done
                plan "$n" "$b" "$s" &
            done
        done
    done
    wait
}

# Compiles once what all programs share.
runtime() {
    local any network
    any=$(compgen -G "$tmp/*.plan.json" | head -n 1)
    if [ -z "$any" ]; then
        echo "gpu: no plan could be made" && cat "$tmp"/*.why
        return 1
    fi
    network=$(basename "$any")
    "$build/remat-plan" emit -q --target cuda -o "$tmp/shared" \
        "$(graph_of "${network%%.*}")" "$any" &&
        make -s -j"$(nproc)" -C "$tmp/shared" MAKEFLAGS= NVCC="$nvcc" runtime.a
}

# one NETWORK BUDGET SWAP: runs a plan and adds a row to both files. Returns 1 if the result
# is wrong, 2 if it did not run.
one() {
    local plan=$tmp/$1.$2.$3.plan.json report code
    local row="\"network\":\"$1\",\"budget\":\"$2\",\"swap\":\"$3\""
    if [ ! -e "$plan" ]; then
        echo "{$row,\"result\":\"no plan\"}" >>"$json"
        echo "| $1 | $2 | $3 | no plan |||||||||||" >>"$table"
        return 2
    fi
    if ((SECONDS > limit)); then
        echo "{$row,\"result\":\"not run\"}" >>"$json"
        echo "| $1 | $2 | $3 | not run, no time left |||||||||||" >>"$table"
        return 2
    fi
    rm -rf "$tmp/run"
    "$build/remat-plan" emit -q --target cuda -o "$tmp/run" "$(graph_of "$1")" "$plan" &&
        make -s -C "$tmp/run" MAKEFLAGS= NVCC="$nvcc" RUNTIME="$tmp/shared/runtime.a" replay &&
        report=$(timeout 60 "$tmp/run/replay" 5)
    code=$?
    echo "{$row,\"result\":${report:-\"exit code $code\"}}" >>"$json"
    if [ -z "${report-}" ]; then
        echo "| $1 | $2 | $3 | exit code $code |||||||||||" >>"$table"
        return 1
    fi
    local sum=$(number "$report" reference_ns.predicted) keep=$(number "$report" reference_ns.graph)
    local predicted=$(number "$report" plan_ns.predicted) took=$(number "$report" plan_ns.graph)
    echo "| $1 | $2 | $3 | $(number "$report" equal) | $(number "$report" graph_equal) |" \
        "$(number "$report" arena_bytes) | $(number "$report" outside_bytes) |" \
        "$sum | $keep | $(off "$sum" "$keep") |" \
        "$predicted | $took | $(off "$predicted" "$took") | $(number "$report" plan_ns.eager) |" \
        "$(number "$report" stall_ns.predicted), $(number "$report" stall_ns.measured) |" >>"$table"
    [ $code = 0 ] && [ "$(number "$report" outside_bytes)" = 0 ] || return 1
    [ "$3" = no ] || cp "$plan" "$made/$1-$device.${2%\%}.plan.json"
}

good=0 bad=0 left_out=0
count() { # STATUS WHAT
    if [ "$1" = 0 ]; then
        good=$((good + 1))
    elif [ "$1" = 2 ]; then
        left_out=$((left_out + 1))
    else
        bad=$((bad + 1))
        echo "FAILED gpu: $2"
    fi
}

: >"$json"
{
    echo "GPU: $gpu. Times in nanoseconds. Wanted: the same graph measured twice within 2%, the sum of ops within 3% of the keep-all step, a plan's prediction within 5% of the replay."
    echo
    echo "| network | seconds to profile | sum of ops | again | off | whole step |"
    echo "|---|---|---|---|---|---|"
} >"$table"
measured=
for n in $networks; do
    if measure "$n"; then
        measured="$measured $n"
        count 0
    else
        rm -f "$(graph_of "$n")"
        count 1 "$n cannot be measured"
    fi
done
networks=$measured
[ -n "$networks" ] || exit 1
plans
runtime || exit 1
{
    echo
    echo "keep-all and plan run as a CUDA graph, and the plan eagerly, launch by launch."
    echo
    echo "| network | budget | swap | equal | as a graph | arena | outside | sum of ops | keep-all | off | plan predicted | plan | off | plan eager | stall predicted, measured |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
} >>"$table"
for b in $budgets; do
    for n in $networks; do
        for s in yes no; do
            one "$n" "$b" "$s"
            count $? "$n at $b, swap $s"
        done
    done
done
cat "$table"
echo "gpu: $good passed, $bad failed, $left_out without a plan or not run, $SECONDS s; $table, $json, $made"
[ $bad = 0 ]
