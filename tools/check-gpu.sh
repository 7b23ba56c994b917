#!/bin/bash
# check-gpu.sh: measures networks of the zoo on this machine's GPU, plans them and runs the
# plans. The kernels are compiled once. Then the networks follow, the most telling first:
# each is profiled, planned with swaps for three budgets from its measured times, and every
# plan is built, run, and compared bit for bit with keep-all. If there is time left, each is
# profiled again, to see how far two measurements differ, and planned and run without swaps.
#
# Writes build/check-gpu.json (a line for each profile and each plan), build/check-gpu.md
# (tables) and build/check-gpu/GPU/: the measured graphs, and the plans with swaps whose
# results were equal (cp -r build/check-gpu/* plans/). Whatever is measured is written at
# once. After SECONDS_FOR_ALL, or a signal, what is under way is given up, and the rest is
# listed as not run.
#
# Exit code: 0 if all results are equal and nothing is allocated outside the arena, 1 if not
# or if there are none, 77 if there is no GPU. The errors of predictions are printed but do
# not matter for this.
#   NETWORKS          (resnet50 bert-base unet gpt2 nmt mobilenet_v2 lstm-lm)
#   OPTIONS           of zoo, such as --tiny     BUDGETS (80% 60% 40%)
#   SECONDS_FOR_ALL   (460)   SECONDS_FOR_EACH profile or replay (120)   SECONDS_TO_PLAN (2)
#   REPEAT            steps to measure (20)      WARM_UP seconds before (as profile does)
set -u
build=$(realpath "${BUILD:-build}")
limit=${SECONDS_FOR_ALL:-460} each=${SECONDS_FOR_EACH:-120} to_plan=${SECONDS_TO_PLAN:-2}
read -ra how <<<"--repeat ${REPEAT:-20} ${WARM_UP:+--warm-up $WARM_UP}"
read -ra networks <<<"${NETWORKS:-resnet50 bert-base unet gpt2 nmt mobilenet_v2 lstm-lm}"
read -ra budgets <<<"${BUDGETS:-80% 60% 40%}"
read -ra options <<<"${OPTIONS-}"
json=$build/check-gpu.json table=$build/check-gpu.md
find=src/emit/templates/cuda/find-cuda.sh
SECONDS=0
export LC_ALL=C

skip() {
    echo "skipped: $1"
    exit 77
}
[ -x "$build/remat-plan" ] || skip "no $build/remat-plan"
gpu=$(sh $find gpu) || skip "no GPU (${gpu#error: })"
flags=$(sh $find link) || skip "${flags#error: }"
gpu=${gpu#*, }
# "NVIDIA H200" is h200, "NVIDIA A100-SXM4-80GB" a100-sxm4-80gb.
made=$build/check-gpu/$(tr 'A-Z ' 'a-z-' <<<"${gpu#NVIDIA }")
tmp=$(mktemp -d)
program=$tmp/program # of all replays: only their tables differ
export KERNELS=$program/kernels.a

# ---- running ----

over() {
    ((limit <= SECONDS))
}

# bounded SECONDS COMMAND... &: for at most so long, and no longer than the time that is
# left. Exits with 124 when the time is over.
bounded() {
    local most=$1 left=$((limit - SECONDS))
    shift
    ((left > 0)) || exit 124
    exec timeout -k 2 $((left < most ? left : most)) "$@"
}

# within SECONDS COMMAND...: the same, with output in $tmp/out and $tmp/err. A signal ends
# it at once.
within() {
    bounded "$@" >"$tmp/out" 2>"$tmp/err" &
    wait $!
}

# why STATUS: in one line.
why() {
    if over; then
        echo "no time left"
    elif [ "$1" = 124 ]; then
        echo "it took too long"
    else
        echo "exit code $1: $({ grep -E 'error|fatal|\*\*\* |undefined reference|cannot find' "$tmp/err" || cat "$tmp/err"; } |
            head -n 1 | tr -d '"\\|' | cut -c 1-200)"
    fi
}

# ---- results ----

good=0 bad=0 left_out=0 interrupted=0
profiles=() plans=() # rows of the tables

# record JSON: the members of a line.
record() {
    echo "{$1}" >>"$json"
}

show() {
    echo "GPU: $gpu. Times in nanoseconds. Wanted: the same graph measured twice within 2%, the sum of ops within 3% of the keep-all step, a plan's prediction within 5% of the replay."
    echo
    echo "| network | seconds to profile | sum of ops | again | off | whole step |"
    echo "|---|---|---|---|---|---|"
    printf '%s\n' "${profiles[@]}"
    echo
    echo "keep-all and plan run as a CUDA graph, and the plan eagerly, launch by launch."
    echo
    echo "| network | budget | swap | equal | as a graph | arena | outside | sum of ops | keep-all | off | plan predicted | plan | off | plan eager | stall predicted, measured |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    printf '%s\n' "${plans[@]}"
}

finish() {
    kill $(jobs -p) 2>/dev/null
    wait
    show >"$table"
    cat "$table"
    rm -rf "$tmp"
    echo "gpu: $good passed, $bad failed, $left_out not run, $SECONDS s; $table, $json, $made"
    exit $((bad > 0 || good == 0 || interrupted))
}

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

# ---- one build ----

# compile: what all programs share, in the folder of a plan.
compile() {
    "$build/remat-plan" zoo vgg16 --tiny -q -o "$tmp/small-zoo.json" &&
        "$build/remat-plan" profile -q --device v100-16g -o "$tmp/small.json" "$tmp/small-zoo.json" &&
        "$build/remat-plan" solve -q -p keep-all -b 100% -o "$tmp/small.plan.json" "$tmp/small.json" &&
        "$build/remat-plan" emit -q --target cuda -o "$program" "$tmp/small.json" "$tmp/small.plan.json" &&
        KERNELS=kernels.a within "$limit" \
            make -s -j"$(nproc)" -C "$program" MAKEFLAGS= kernels.a main.o
}

# ---- one network ----

graph_of() {
    echo "$made/$1.graph.json"
}

# profile NETWORK TO
profile() {
    within "$each" "$build/remat-plan" profile -q "${how[@]}" --program "$tmp/profile" \
        -o "$2" "$tmp/$1.json"
}

# measure NETWORK: true if there is a measured graph.
measure() {
    local graph began=$SECONDS status
    graph=$(graph_of "$1")
    within "$each" "$build/remat-plan" zoo "$1" "${options[@]}" -q -o "$tmp/$1.json" &&
        profile "$1" "$graph"
    status=$?
    if [ $status != 0 ]; then
        rm -f "$graph"
        record "\"network\":\"$1\",\"profile\":\"$(why $status)\""
        profiles+=("| $1 | $(why $status) |||||")
        if over; then
            left_out=$((left_out + 1))
        else
            bad=$((bad + 1))
            echo "FAILED gpu: $1 cannot be measured: $(why $status)"
        fi
        return 1
    fi
    good=$((good + 1))
    record "\"network\":\"$1\",\"seconds\":$((SECONDS - began))"
    profiles+=("| $1 | $((SECONDS - began)) | $(number "$(grep -o '"sum_ns":[0-9]*' "$graph")" sum_ns) | - | - | $(
        grep -oE '"whole_step":[a-z]+' "$graph" | cut -d : -f 2) |")
}

# again NETWORK ROW: measures it once more and completes its row.
again() {
    local report first second
    profile "$1" "$tmp/again.json" || return
    report=$("$build/remat-plan" profile --compare --json "$(graph_of "$1")" "$tmp/again.json") || return
    record "\"network\":\"$1\",\"profiles\":$report"
    first=$(number "$report" a_ns) second=$(number "$report" b_ns)
    profiles[$2]=${profiles[$2]/ | - | - | / | $second | $(off "$second" "$first") | }
}

plan_of() { # NETWORK BUDGET SWAP
    echo "$tmp/$1.$2.$3.plan.json"
}

# plan NETWORK SWAP: for all budgets, as many at once as there are processors.
plan() {
    local b option=()
    [ "$2" = yes ] || option=(--no-swap)
    for b in "${budgets[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
            wait -n
        done
        bounded "$each" "$build/remat-plan" solve "${option[@]}" -t "$to_plan" -b "$b" -q \
            -o "$(plan_of "$1" "$b" "$2")" "$(graph_of "$1")" >"$(plan_of "$1" "$b" "$2").why" 2>&1 &
    done
    wait
}

# replay NETWORK BUDGET SWAP: builds and runs a plan.
replay() {
    "$build/remat-plan" emit -q --target cuda -o "$program" "$(graph_of "$1")" "$(plan_of "$@")" &&
        within "$each" make -s -C "$program" MAKEFLAGS= replay &&
        within "$each" "$program/replay" 5
}

# missing NETWORK BUDGET SWAP WHY: a plan without a result.
missing() {
    record "\"network\":\"$1\",\"budget\":\"$2\",\"swap\":\"$3\",\"result\":\"$4\""
    plans+=("| $1 | $2 | $3 | $4 |||||||||||")
}

# try NETWORK BUDGET SWAP: a row for this plan.
try() {
    local report status
    if [ ! -e "$(plan_of "$@")" ]; then
        missing "$@" "no plan: $(head -n 1 "$(plan_of "$@").why" | tr -d '"\\|' | cut -c 1-200)"
        left_out=$((left_out + 1))
        return
    fi
    : >"$tmp/out"
    replay "$@"
    status=$? report=$(grep '^{' "$tmp/out")
    if ((status != 0)) && over; then
        missing "$@" "no time left"
        left_out=$((left_out + 1))
        return
    fi
    if [ -z "$report" ]; then
        missing "$@" "$(why $status)"
        bad=$((bad + 1))
        echo "FAILED gpu: $1 at $2, swap $3: $(why $status)"
        return
    fi
    record "\"network\":\"$1\",\"budget\":\"$2\",\"swap\":\"$3\",\"result\":$report"
    row "$@" "$report"
    if [ $status != 0 ] || [ "$(number "$report" outside_bytes)" != 0 ]; then
        bad=$((bad + 1))
        echo "FAILED gpu: $1 at $2, swap $3: exit code $status, $(number "$report" outside_bytes) bytes outside the arena"
        return
    fi
    good=$((good + 1))
    [ "$3" = no ] || cp "$(plan_of "$@")" "$made/$1.${2%\%}.plan.json"
}

row() { # NETWORK BUDGET SWAP REPORT
    local sum=$(number "$4" reference_ns.predicted) keep=$(number "$4" reference_ns.graph)
    local predicted=$(number "$4" plan_ns.predicted) took=$(number "$4" plan_ns.graph)
    plans+=("| $1 | $2 | $3 | $(number "$4" equal) | $(number "$4" graph_equal) |$(
        ) $(number "$4" arena_bytes) | $(number "$4" outside_bytes) |$(
        ) $sum | $keep | $(off "$sum" "$keep") |$(
        ) $predicted | $took | $(off "$predicted" "$took") | $(number "$4" plan_ns.eager) |$(
        ) $(number "$4" stall_ns.predicted), $(number "$4" stall_ns.measured) |")
}

# try_all NETWORK SWAP: the plans of a network.
try_all() {
    local b
    over || plan "$1" "$2"
    for b in "${budgets[@]}"; do
        if over; then
            missing "$1" "$b" "$2" "no time left"
            left_out=$((left_out + 1))
        else
            try "$1" "$b" "$2"
            show >"$table"
        fi
    done
}

# ---- in order of worth ----

rm -rf "$build/check-gpu" "$table"
mkdir -p "$made"
: >"$json"
trap finish EXIT
trap 'interrupted=1; exit' INT TERM HUP
compile
status=$?
if [ $status != 0 ]; then
    echo "FAILED gpu: the kernels cannot be built: $(why $status)"
    bad=1
    exit 1
fi
measured=()
for n in "${networks[@]}"; do
    if measure "$n"; then
        measured+=("$n")
        try_all "$n" yes
    fi
    show >"$table"
done
for i in "${!networks[@]}"; do
    [ ! -e "$(graph_of "${networks[i]}")" ] || again "${networks[i]}" "$i"
done
for n in "${measured[@]}"; do
    try_all "$n" no
done
