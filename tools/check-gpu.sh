#!/bin/bash
# check-gpu.sh: zoo plans on this machine's GPU. Networks x budgets x with and without swap:
# each plan is made, verified, emitted, built, run, and compared bit for bit. Writes
# build/check-gpu.json (a line a plan) and build/check-gpu.md (a table), and ends within
# about 8 minutes: what no time was left for is listed as not run.
#
# Exit code: 0 all equal and nothing allocated outside the arena, 1 not, 77 no GPU.
#   DEVICE   whose times plans are made with (remat-plan profile --device list)
#   SECONDS_FOR_ALL (450)   SECONDS_TO_PLAN (2)
set -u
build=$(realpath "${BUILD:-build}")
limit=${SECONDS_FOR_ALL:-450} to_plan=${SECONDS_TO_PLAN:-2}
json=$build/check-gpu.json table=$build/check-gpu.md
SECONDS=0

where() {
    tools/find-cuda.sh | sed -nE "s|^$1 +(/.*)|\1|p"
}
nvcc=$(where nvcc)
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
if [ -z "$gpu" ] || [ -z "$nvcc" ] || [ -z "$(where cudnn)" ]; then
    echo "skipped: no GPU"
    exit 77
fi
case $gpu in
*H200*) device=h200 ;;
*H100*) device=h100 ;;
*A100*80*) device=a100-80g ;;
*A100*) device=a100-40g ;;
*V100*32*) device=v100-32g ;;
*V100*) device=v100-16g ;;
*4090*) device=rtx4090 ;;
*) device=v100-16g ;;
esac
device=${DEVICE:-$device}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
networks="resnet50 unet bert-base gpt2 lstm-lm nmt"
budgets="90% 75% 60% 40%"

graphs() {
    local n
    for n in $networks; do
        "$build/remat-plan" zoo "$n" -q -o "$tmp/$n.g.json" || exit 1
        if [ -x "$build/remat-gpu-workspace" ]; then
            "$build/remat-gpu-workspace" "$tmp/$n.g.json" "$tmp/$n.w.json" &&
                mv "$tmp/$n.w.json" "$tmp/$n.g.json"
        fi
        "$build/remat-plan" profile --device "$device" -q -o "$tmp/$n.json" "$tmp/$n.g.json" ||
            exit 1
    done
}

# plan NETWORK BUDGET SWAP: in the background, as many at once as there are processors.
plan() {
    local option=
    [ "$3" = no ] && option=--no-swap
    "$build/remat-plan" solve $option -t "$to_plan" -b "$2" -q -o "$tmp/$1.$2.$3.plan.json" \
        "$tmp/$1.json" >"$tmp/$1.$2.$3.why" 2>&1
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

# What all programs share is compiled once.
runtime() {
    "$build/remat-plan" emit -q --target cuda -o "$tmp/shared" "$tmp/lstm-lm.json" \
        "$(ls "$tmp"/lstm-lm.*.plan.json | head -n 1)" &&
        make -s -j"$(nproc)" -C "$tmp/shared" MAKEFLAGS= NVCC="$nvcc" runtime.a
}

# number JSON KEY: of a flat or nested key, such as plan_ns.eager.
number() {
    local text=$1 key
    for key in ${2//./ }; do
        text=${text#*\"$key\":}
    done
    printf '%s' "${text%%[,\}]*}"
}

# one NETWORK BUDGET SWAP: a row of both files. 1 if it is not right.
one() {
    local plan=$tmp/$1.$2.$3.plan.json said code
    local row="\"network\":\"$1\",\"budget\":\"$2\",\"swap\":\"$3\""
    if [ ! -e "$plan" ]; then
        echo "{$row,\"result\":\"no plan\"}" >>"$json"
        echo "| $1 | $2 | $3 | no plan |||||||" >>"$table"
        return 0
    fi
    if ((SECONDS > limit)); then
        echo "{$row,\"result\":\"not run\"}" >>"$json"
        echo "| $1 | $2 | $3 | not run: no time |||||||" >>"$table"
        return 0
    fi
    rm -rf "$tmp/run"
    "$build/remat-plan" emit -q --target cuda -o "$tmp/run" "$tmp/$1.json" "$plan" &&
        make -s -C "$tmp/run" MAKEFLAGS= NVCC="$nvcc" RUNTIME="$tmp/shared/runtime.a" replay &&
        said=$(timeout 60 "$tmp/run/replay" 3)
    code=$?
    echo "{$row,\"result\":${said:-\"exit code $code\"}}" >>"$json"
    if [ -z "${said-}" ]; then
        echo "| $1 | $2 | $3 | exit code $code |||||||" >>"$table"
        return 1
    fi
    echo "| $1 | $2 | $3 | $(number "$said" equal) | $(number "$said" graph_equal) |" \
        "$(number "$said" arena_bytes) | $(number "$said" outside_bytes) |" \
        "$(number "$said" plan_ns.predicted) | $(number "$said" plan_ns.eager) |" \
        "$(number "$said" plan_ns.graph) | $(number "$said" reference_ns.eager) |" \
        "$(number "$said" stall_ns.predicted) | $(number "$said" stall_ns.measured) |" >>"$table"
    [ $code = 0 ] && [ "$(number "$said" outside_bytes)" = 0 ]
}

: >"$json"
{
    echo "GPU: $gpu; times of plans: $device; nanoseconds."
    echo
    echo "| network | budget | swap | equal | as a graph | arena | outside | predicted | eager | graph | keep-all eager | stall predicted | measured |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
} >"$table"
graphs
plans
runtime || exit 1
good=0 bad=0
for b in $budgets; do
    for n in $networks; do
        for s in yes no; do
            if one "$n" "$b" "$s"; then
                good=$((good + 1))
            else
                bad=$((bad + 1))
                echo "FAILED gpu: $n at $b, swap $s"
            fi
        done
    done
done
cat "$table"
echo "gpu: $good passed, $bad failed, $SECONDS s; $table, $json"
[ $bad = 0 ]
