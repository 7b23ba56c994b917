#!/bin/bash
# check-replay.sh: runs `verify --replay cuda` from end to end without a GPU. The driver, nvcc
# and CUDA are stand-ins (tests/cuda).
set -u
build=$(realpath "${BUILD:-build}")
if ! command -v "${CXX:-g++}" >/dev/null; then
    echo "replay: skipped (no C++ compiler)"
    exit 0
fi
make -s -j2 BUILD="$build" "$build/emulated/cuda.a" "$build/libcuda/libcuda.so.1" || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/tmp"
tests/cuda/make-toolkit.sh "$tmp/cuda"
export TMPDIR=$tmp/tmp EMULATED=$build CUDA_HOME=$tmp/cuda
export LD_LIBRARY_PATH=$build/libcuda
good=0 bad=0

# run WHAT CODE PATTERN: the command must end with this exit code and print a line that
# matches, and call the plan valid only if the code is 0.
run() {
    local code
    "$build/remat-plan" verify --replay cuda "$tmp/p.json" "$tmp/plan.json" >"$tmp/log" 2>&1
    code=$?
    sed -i '/ASan doesn.t fully support makecontext/d' "$tmp/log" # the stand-ins use it
    if [ $code = "$2" ] && grep -qE "$3" "$tmp/log" &&
        { [ $code = 0 ] || ! grep -q '^valid' "$tmp/log"; } && [ -z "$(ls "$TMPDIR")" ]; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "FAILED replay: $1 (exit code $code)"
        cat "$tmp/log"
    fi
}

"$build/remat-plan" zoo resnet50 --tiny -q -o "$tmp/g.json" &&
    "$build/remat-plan" profile --device v100-16g -q -o "$tmp/p.json" "$tmp/g.json" &&
    "$build/remat-plan" solve -p libra -b 88% -q -o "$tmp/plan.json" "$tmp/p.json" &&
    "$build/remat-plan" emit -q --target cuda -o "$tmp/c" "$tmp/p.json" "$tmp/plan.json" || exit 1
# What the program allocates for sources, 512 bytes at least for each, and for keep-all.
sources=$(sed -n '/tensors\[\]/,/^{""/p' "$tmp/c/plan.c" | grep -v NO_FILL |
    awk -F ', ' '{ n += int(($2 + 511) / 512) * 512 } END { print n }')
keep_all=$((sources + $(sed -nE 's/^ *\{([0-9]+)u, 0u, keep_all_steps.*/\1/p' "$tmp/c/plan.c")))

run "the plan is compared with keep-all" 0 '"equal":true,"wrong":null,"reference":"keep-all"'
export MEMORY=$((keep_all - 512))
run "where keep-all does not fit, the step runs op by op" 0 \
    '"equal":true,"wrong":null,"reference":"op by op","graph_equal":true'
DRIFT_AFTER=100 run "the plan is really compared with it" 1 \
    '^rejected .*not equal bit for bit: .*"equal":false,.*"reference":"op by op"'
REPLAY_HOST_BYTES=1000 run "without a reference, nothing is called valid" 4 \
    '^remat-plan: verify: --replay cuda: replay: nothing to compare with: .* op by op it needs [0-9]+ bytes on the host, more than 1000$'
MEMORY=$keep_all MODULES=4096
export MEMORY MODULES
run "where keep-all barely fits, it leaves no room for modules" 0 '"equal":true,.*"reference":"op by op"'
unset MEMORY MODULES
CUDNN_ELEMENTS=256 run "convolutions run in parts of the batch" 0 '"equal":true.*"part_calls":[1-9]'
GPU_ARCH=75 run "a program for another GPU says so" 5 \
    'the program failed: replay: the GPU: it is sm_75, but the program is built for sm_80: make clean, then make ARCH=sm_75 .no kernel image.$'

echo "replay: $good passed, $bad failed"
[ $bad = 0 ]
