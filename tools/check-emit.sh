#!/bin/bash
# check-emit.sh: emitted programs. For the CPU: built and run, at full precision and half,
# with recomputation and copies; a spoilt one must say so. For a GPU: ResNet-50 at full size
# below a megabyte of source; where nvcc and cuDNN are, its plan and harness are compiled.
set -u
build=$(realpath "${BUILD:-build}")
cc=${CC:-gcc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
good=0 bad=0

# try WHAT COMMAND...
try() {
    local what=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "FAILED emit: $what"
        cat "$tmp/log"
    fi
}

# The least budget that the policy's plan fits into.
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
    "$tmp/$1/replay" >"$tmp/said" && grep -q '"equal":true,"wrong":null' "$tmp/said"
}

try "plan resnet50" plan resnet50 libra --tiny
try "emit for the CPU" emit c c
try "it is compiled without warnings" compile c
try "it agrees" agrees c
if command -v python3 >/dev/null; then
    try "it prints JSON" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$tmp/said"
fi
try "the same again" bash -c "cp '$tmp/c/plan.c' '$tmp/first.c'; '$build/remat-plan' emit -q \
    --target c -o '$tmp/c' '$tmp/p.json' '$tmp/plan.json' && cmp '$tmp/first.c' '$tmp/c/plan.c'"

# One address of the plan moved by an alignment: some tensor lies where it should not.
sed -i '/plan_addresses\[\]/,/};/ s/\b512u,/1024u,/' "$tmp/c/plan.c"
try "a spoilt plan is compiled" compile c
try "and says what is wrong" bash -c "! '$tmp/c/replay' >'$tmp/said' && \
    grep -q '\"equal\":false,\"wrong\":\"' '$tmp/said'"

try "plan resnet50 in half precision" plan resnet50 libra --tiny --dtype f16
rm -f "$tmp/c/plan.c" "$tmp/c/plan.o"
try "emit into the same folder" emit c c
try "it is compiled without warnings" compile c
try "it agrees" agrees c

# The program for a GPU too, with stand-ins for CUDA (tests/cuda/emulated).
emulate() {
    local flags=(-O1 -w -ffp-contract=off -Itests/cuda/emulated -Itests -I"$tmp/gpu")
    make -s BUILD="$build" "$build/cuda-emulated" &&
        "${CXX:-g++}" -x c++ -std=c++20 -D__CUDACC__ -include streams.h "${flags[@]}" \
            -c -o "$tmp/main.o" "$tmp/gpu/main.cu" &&
        "$cc" "${flags[@]}" -c -o "$tmp/plan.o" "$tmp/gpu/plan.c" &&
        "${CXX:-g++}" ${LDFLAGS-} -o "$tmp/gpu/replay" "$tmp"/{main,plan}.o \
            "$build"/emulated/{cuda_f32,cuda_f16,library,emulate,libraries}.o \
            "$build"/src/kernels/{fill,ref_f32,ref_f16}.o
}
if command -v "${CXX:-g++}" >/dev/null; then
    try "emit for a GPU" emit cuda gpu
    try "it is compiled with stand-ins for CUDA" emulate
    try "it agrees, copies early" agrees gpu
    LATE=1 try "it agrees, copies late" agrees gpu
    try "as a graph too" grep -q '"graph_equal":true' "$tmp/said"
    # A copy in that nobody waits for comes too late.
    sed -i -E '/plan_steps\[\]/,/};/ s/^(RUN.*), 1, 0\),$/\1, 0, 0),/' "$tmp/gpu/plan.c"
    try "one with waits left out is compiled" emulate
    LATE=1 try "and does not agree" bash -c "! '$tmp/gpu/replay' >'$tmp/said' &&
        grep -q '\"equal\":false,' '$tmp/said'"
fi

try "plan resnet50 at full size" plan resnet50 superneurons
try "emit for a GPU" emit cuda cuda
try "below a megabyte: $(du -sb "$tmp/cuda" | cut -f 1)" test \
    "$(find "$tmp/cuda" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" -lt 1000000

where() {
    tools/find-cuda.sh | sed -nE "s|^$1 +(/.*)|\1|p"
}
nvcc=$(where nvcc) cudnn=$(where cudnn)
if [ -n "$nvcc" ] && [ -n "$cudnn" ]; then
    # The kernels themselves are what check-cuda.sh has compiled already.
    try "the kernels" make -s BUILD="$build" NVCC="$nvcc" "$build/cuda-kernels.a"
    try "plan and harness are compiled" make -s -C "$tmp/cuda" MAKEFLAGS= NVCC="$nvcc" \
        NVCCFLAGS="-Xcicc -O0 -Xptxas -O0 -Werror all-warnings" main.o plan.o
    cp "$build/cuda-kernels.a" "$tmp/cuda/runtime.a" 2>/dev/null &&
        ar r "$tmp/cuda/runtime.a" "$tmp/cuda/main.o" 2>/dev/null
    try "and linked" make -s -C "$tmp/cuda" MAKEFLAGS= NVCC="$nvcc" RUNTIME=runtime.a \
        -o runtime.a -o plan.o replay
    "$tmp/cuda/replay" >"$tmp/said" 2>"$tmp/why"
    code=$?
    try "it runs, or says that there is no GPU (exit code $code)" bash -c \
        "[ $code = 0 ] || { [ $code = 77 ] && grep -q '^replay: no GPU: ' '$tmp/why'; }"
fi

echo "emit: $good passed, $bad failed"
[ $bad = 0 ]
