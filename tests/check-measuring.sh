#!/bin/bash
# check-measuring.sh: tools/check-gpu.sh from end to end without a GPU. The driver,
# nvidia-smi, nvcc, CUDA and CUPTI are stand-ins.
set -u
build=$(realpath "${BUILD:-build}")
if ! command -v "${CXX:-g++}" >/dev/null; then
    echo "measuring: skipped (no C++ compiler)"
    exit 0
fi
make -s -j2 BUILD="$build" "$build/cuda-emulated" \
    "$build/libcuda/libcuda.so.1" "$build/libcuda/libnvidia-ml.so.1" || exit 1
tmp=$(mktemp -d)
# A compiler that is stopped may write for a moment more.
trap 'for ((i = 0; i < 50; i++)); do rm -rf "$tmp" 2>/dev/null && break; sleep 0.1; done' EXIT
good=0 bad=0

verdict() { # STATUS WHAT
    if [ "$1" = 0 ]; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "FAILED measuring: $2"
        cat "$tmp/log" "$tmp/b/check-gpu.json" 2>/dev/null
    fi
}

mkdir -p "$tmp/b" "$tmp/bin" "$tmp/tmp"
ln -s "$build/remat-plan" "$build/libremat_inject.so" "$tmp/b"
tests/cuda/make-toolkit.sh "$tmp/cuda"
export TMPDIR=$tmp/tmp EMULATED=$build REMAT_CUPTI=$build/traced/libcupti_fake.so
export LD_LIBRARY_PATH=$build/libcuda CUDA_HOME=$tmp/cuda NVCC_LOG=$tmp/nvcc.log
export PATH=$tmp/bin:$PATH MEMORY=16777216
export OPTIONS=--tiny BUDGETS='100% 1%' REPEAT=2 WARM_UP=0 SECONDS_TO_PLAN=1 SECONDS_FOR_EACH=600
# smi STATUS TEXT: nvidia-smi will print this and exit so.
smi() {
    printf '#!/bin/sh\necho "%s"\nexit %s\n' "$2" "$1" >"$tmp/bin/nvidia-smi"
    chmod +x "$tmp/bin/nvidia-smi"
}
measure() {
    : >"$tmp/nvcc.log"
    BUILD=$tmp/b tools/check-gpu.sh >"$tmp/log" 2>&1
}
# last PATTERN: the last line of the output.
last() {
    tail -n 1 "$tmp/log" | grep -qE "$1"
}
# row PATTERN: a line of the table begins so.
row() {
    grep -qE "^\| $1" "$tmp/b/check-gpu.md"
}
compiled() { # SOURCE: how often
    grep -c -- "-c -o [^ ]* $1\$" "$tmp/nvcc.log"
}

smi 9 "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
measure
code=$?
[ $code = 77 ] && last '^skipped: no GPU \(nvidia-smi fails \(exit code 9\): NVIDIA-SMI has failed'
verdict $? "a broken driver is no GPU (exit code $code)"

smi 0 "9.0, NVIDIA Paper GPU"
began=$SECONDS
NETWORKS=vgg16 SECONDS_FOR_ALL=600 measure
code=$?
took=$((SECONDS - began))
[ $code = 0 ] && last '^gpu: 3 passed, 0 failed, 2 not run, '
verdict $? "a network is measured, planned and replayed (exit code $code)"
[ "$(compiled kernels/cuda/cuda_f32.cu)" = 1 ] && [ "$(compiled kernels/cuda/library.cu)" = 1 ] &&
    [ "$(compiled main.cu)" = 2 ]
verdict $? "the kernels are compiled once, for profiles and replays"
row 'vgg16 \| [0-9]+ \| [0-9]+ \| [0-9]+ \| \+0\.0% \| true \|$'
verdict $? "the table has both profiles"
row 'vgg16 \| 100% \| yes \| true \| true \| [0-9]+ \| 0 \|' && row 'vgg16 \| 100% \| no \| true \| true \|'
verdict $? "the table has both plans"
row 'vgg16 \| 1% \| yes \| no plan: infeasible: .*on the device.* \|'
verdict $? "a budget without a plan is listed"
[ "$(ls "$tmp"/b/check-gpu/*)" = "$(printf 'vgg16.%s\n' 100.plan.json graph.json)" ] &&
    "$build/remat-plan" verify -q "$tmp"/b/check-gpu/paper-gpu/vgg16.{graph,100.plan}.json
verdict $? "graph and plan are kept"

# The second network's program hangs.
limit=$((2 * took + 5))
began=$SECONDS
SLOW_ON=vgg19 NETWORKS='vgg16 vgg19 resnet18' SECONDS_FOR_ALL=$limit measure
code=$? late=$((SECONDS - began - limit))
[ $code = 0 ] && last '^gpu: 2 passed, 0 failed, [0-9]+ not run, ' && [ $late -lt 60 ]
verdict $? "it ends with its time (exit code $code, $late s late)"
row 'vgg16 \| [0-9]+ \| [0-9]+ \|' && row 'vgg16 \| 100% \| yes \| true \|' &&
    [ -e "$tmp/b/check-gpu/paper-gpu/vgg16.100.plan.json" ]
verdict $? "what was measured before is kept"
row 'vgg19 \| no time left' && row 'resnet18 \| no time left' && row 'vgg16 \| 100% \| no \| no time left'
verdict $? "what is missing is listed"

# It is interrupted while the first network's program hangs.
: >"$tmp/nvcc.log"
SLOW_ON=vgg16 NETWORKS=vgg16 BUILD=$tmp/b tools/check-gpu.sh >"$tmp/log" 2>&1 &
for ((i = 0; i < 1200; i++)); do
    grep -q 'plan\.c$' "$tmp/nvcc.log" && break
    sleep 0.1
done
kill -TERM $!
wait $!
code=$?
[ $code = 1 ] && last '^gpu: 0 passed, 0 failed, 0 not run, '
verdict $? "a signal ends it (exit code $code)"
# A compiler that is stopped may leave files of its own.
left=$(find "$TMPDIR" -mindepth 1 ! -name 'cc??????.*')
[ -z "$left" ]
verdict $? "it leaves nothing: $left"
left=$(readlink /proc/[0-9]*/cwd | grep -F "$tmp")
[ -z "$left" ]
verdict $? "it leaves no process: $left"

echo "measuring: $good passed, $bad failed"
[ $bad = 0 ]
