#!/bin/bash
# check-cupti-exit.sh: at exit, our last flush comes before the exit handlers of the real
# CUPTI. Needs its library, but neither a GPU nor a driver.
set -u
build=$(realpath "${BUILD:-build}")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
REMAT_CUPTI=$(tools/check-cuda.sh cupti) || {
    echo "cupti-exit: skipped (no libcupti is found that works without a driver)"
    exit 0
}
export REMAT_CUPTI
if nm "$build/libremat_inject.so" | grep -q __asan; then
    echo "cupti-exit: skipped (sanitizers have exit handlers of their own)"
    exit 0
fi
make -s BUILD="$build" "$build/traced/exit_order" || exit 1
good=0 bad=0
for first in cuda nvtx; do
    mkdir "$tmp/$first"
    REMAT_TRACE=$tmp/$first "$build/traced/exit_order" $first "$build/libremat_inject.so"
    code=$?
    if [ $code = 77 ]; then
        echo "cupti-exit: skipped (no libcupti)"
        exit 0
    elif [ $code = 0 ] && grep -q '^end ' "$tmp/$first"/*.trace; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "FAILED cupti-exit: started by $first: exit code $code"
    fi
done
echo "cupti-exit: $good passed, $bad failed"
[ $bad = 0 ]
