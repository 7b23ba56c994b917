#!/bin/bash
# check-emit.sh: checks emitted programs. Programs for the CPU are built and run, in f32,
# bf16 and f16, with recomputation and copies; one with a wrong plan must report it. One
# trains a small GPT for 100 steps, with its parameters and the optimizer's state on the
# host. The program for a GPU is run with stand-ins for CUDA. That of ResNet-50 at full size
# must have less than a megabyte of source, and is compiled if nvcc and cuDNN are installed.
set -u
cc=${CC:-gcc}
part=emit
. tools/try.sh

# Makes a plan at the smallest of these budgets that the policy fits. It must swap.
plan() { # NETWORK POLICY OPTIONS...
    local network=$1 policy=$2 budget
    shift 2
    rm -f "$tmp/plan.json"
    "$build/remat-plan" zoo "$network" "$@" -q -o "$tmp/g.json" &&
        "$build/remat-plan" profile --device v100-16g -q -o "$tmp/p.json" "$tmp/g.json" || return
    for budget in 60% 70% 80% 90% 95%; do
        "$build/remat-plan" solve -p "$policy" -b $budget -q -o "$tmp/plan.json" "$tmp/p.json"
        case $? in
        0) break ;;
        1) ;;
        *) return 1 ;;
        esac
    done
    grep -q swap_in "$tmp/plan.json"
}
emit() { # TARGET FOLDER
    "$build/remat-plan" emit -q --target "$1" -o "$tmp/$2" "$tmp/p.json" "$tmp/plan.json"
}
compile() { # FOLDER
    make -s -C "$tmp/$1" MAKEFLAGS= CC="$cc" CFLAGS="-O1 -Wall -Wextra -Werror" LDFLAGS=
}
agrees() { # FOLDER
    "$tmp/$1/replay" >"$tmp/output" && grep -q '"equal":true,"wrong":null' "$tmp/output"
}

try "plan resnet50" plan resnet50 libra --tiny
try "emit for the CPU" emit c c
try "it compiles without warnings" compile c
try "the replay is equal" agrees c
if command -v python3 >/dev/null; then
    try "it prints JSON" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$tmp/output"
fi
try "emitting again gives the same bytes" bash -c "cp '$tmp/c/plan.c' '$tmp/first.c'; '$build/remat-plan' emit -q \
    --target c -o '$tmp/c' '$tmp/p.json' '$tmp/plan.json' && cmp '$tmp/first.c' '$tmp/c/plan.c'"

# Move one address of the plan by 512 bytes, so that two tensors overlap.
sed -i '/plan_addresses\[\]/,/};/ s/\b512u,/1024u,/' "$tmp/c/plan.c"
try "a wrong plan compiles" compile c
try "its replay reports the error" bash -c "! '$tmp/c/replay' >'$tmp/output' && \
    grep -q '\"equal\":false,\"wrong\":\"' '$tmp/output'"

for type in bf16 f16; do
    try "plan resnet50 in $type" plan resnet50 libra --tiny --dtype $type
    rm -f "$tmp/c/plan.c" "$tmp/c/plan.o"
    try "emit into the same folder" emit c c
    try "it compiles without warnings" compile c
    try "the replay is equal" agrees c
done

# A plan of GPT-2's smallest shape with AdamW. Parameters in bf16, their f32 copies and the
# moments live on the host and come in and go out in each step.
plan_training() {
    "$build/remat-plan" zoo gpt2 --tiny --dtype bf16 --optimizer adamw --state-home host -q \
        -o "$tmp/g.json" &&
        "$build/remat-plan" profile --device v100-16g -q -o "$tmp/p.json" "$tmp/g.json" &&
        "$build/remat-plan" solve -b 60% --time-limit 0.2 --ignore-clock -q \
            -o "$tmp/plan.json" "$tmp/p.json" &&
        grep -q '"homes"' "$tmp/plan.json"
}
# Parameters and state are compared after each of so many steps.
trains() { # FOLDER ARGUMENTS-OF-REPLAY...
    local folder=$1
    shift
    "$tmp/$folder/replay" "$@" >"$tmp/output" &&
        grep -q "\"equal\":true,.*\"training_steps\":${*: -1}," "$tmp/output"
}
# Sends all copies to the host to one place, so that host copies are not brought up to date.
spoil() { # FOLDER
    sed -i -E '/plan_steps\[\]/,/};/ s/^SWAP_OUT\(([0-9]+, [0-9]+u), [0-9]+u,/SWAP_OUT(\1, 0,/' \
        "$tmp/$1/plan.c"
}
try "plan a small GPT with its state on the host" plan_training
rm -f "$tmp/c/plan.c" "$tmp/c/plan.o"
try "emit the training" emit c c
try "it compiles without warnings" compile c
try "100 training steps are equal" trains c 100
spoil c
try "a program with stale host copies compiles" compile c
try "its replay reports the error" bash -c "! '$tmp/c/replay' >'$tmp/output' && \
    grep -q '\"equal\":false,\"wrong\":\"training step 1: ' '$tmp/output'"

# Builds the program for a GPU with stand-ins for CUDA (tests/cuda/emulated).
emulate() {
    local flags=(-O1 -w -ffp-contract=off -Itests/cuda/emulated -Itests -I"$tmp/gpu")
    make -s BUILD="$build" "$build/emulated/cuda.a" &&
        "${CXX:-g++}" -x c++ -std=c++20 -D__CUDACC__ -include streams.h "${flags[@]}" \
            -c -o "$tmp/main.o" "$tmp/gpu/main.cu" &&
        "$cc" "${flags[@]}" -c -o "$tmp/plan.o" "$tmp/gpu/plan.c" &&
        "${CXX:-g++}" ${LDFLAGS-} -o "$tmp/gpu/replay" "$tmp"/{main,plan}.o \
            "$build/emulated/cuda.a" \
            "$build"/src/kernels/{fill,ref_f32,ref_f16,ref_bf16}.o
}
if command -v "${CXX:-g++}" >/dev/null; then
    try "emit for a GPU" emit cuda gpu
    try "it compiles with stand-ins for CUDA" emulate
    try "the replay is equal with early copies" agrees gpu
    LATE=1 try "the replay is equal with late copies" agrees gpu
    try "the CUDA graph is equal too" grep -q '"graph_equal":true' "$tmp/output"
    # Remove the waits for swap-ins: late copies then give wrong values.
    sed -i -E '/plan_steps\[\]/,/};/ s/^(RUN.*), 1, 0\),$/\1, 0, 0),/' "$tmp/gpu/plan.c"
    try "a program without these waits compiles" emulate
    LATE=1 try "its replay reports the error" bash -c "! '$tmp/gpu/replay' >'$tmp/output' &&
        grep -q '\"equal\":false,' '$tmp/output'"
fi

if command -v "${CXX:-g++}" >/dev/null; then
    try "plan the training again" plan_training
    try "emit it for a GPU" emit cuda gpu
    try "it compiles with stand-ins for CUDA" emulate
    try "training steps are equal with early copies" trains gpu 1 5
    LATE=1 try "training steps are equal with late copies" trains gpu 1 5
    try "they are equal as a CUDA graph" grep -q '"graph_equal":true' "$tmp/output"
    MEMORY=700000 try "they are equal where keep-all does not fit" trains gpu 1 5
    try "the step ran op by op there" grep -q '"reference":"op by op"' "$tmp/output"
    spoil gpu
    try "a program with stale host copies compiles" emulate
    try "its replay reports the error" bash -c "! '$tmp/gpu/replay' >'$tmp/output' &&
        grep -q '\"equal\":false,' '$tmp/output'"
fi

try "plan resnet50 at full size" plan resnet50 superneurons
try "emit for a GPU" emit cuda cuda
try "the source is below a megabyte: $(du -sb "$tmp/cuda" | cut -f 1)" test \
    "$(find "$tmp/cuda" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" -lt 1000000

find=src/emit/templates/cuda/find-cuda.sh
if sh $find compile >/dev/null; then
    nvcc=$(sh $find nvcc)
    # check-cuda.sh has compiled the kernels already.
    try "the kernels compile" make -s BUILD="$build" NVCC="$nvcc" "$build/cuda-kernels.a"
    try "plan and harness compile" make -s -C "$tmp/cuda" MAKEFLAGS= NVCC="$nvcc" \
        NVCCFLAGS="-Xcicc -O0 -Xptxas -O0 -Werror all-warnings" main.o plan.o
    try "the program links" make -s -C "$tmp/cuda" MAKEFLAGS= NVCC="$nvcc" \
        KERNELS="$build/cuda-kernels.a" -o plan.o -o main.o replay
    "$tmp/cuda/replay" >"$tmp/output" 2>"$tmp/errors"
    code=$?
    try "it runs, or reports that there is no GPU (exit code $code)" bash -c \
        "[ $code = 0 ] || { [ $code = 77 ] && grep -q '^replay: no GPU: ' '$tmp/errors'; }"
fi

end_part
