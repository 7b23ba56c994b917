#!/bin/bash
# check-compilers.sh: builds everything with clang, and runs the unit tests of a build with
# AddressSanitizer and UndefinedBehaviorSanitizer. Last line: "compilers: N passed, N failed".
set -u
export LC_ALL=C
build=${BUILD:-build}
make_() {
    make -s -j"$(nproc)" "$@" >"$build/compilers.log" 2>&1 || {
        tail -n 40 "$build/compilers.log"
        return 1
    }
}

# Tests of HiGHS run where it is found; under CI it must be.
export REMAT_PLAN_HIGHS=${REMAT_PLAN_HIGHS:-$(tools/check-python.sh highs)}
good=0 bad=0
if make_ BUILD="$build/clang" CC=clang all "$build/clang/unit"; then
    good=1
else
    bad=1
    echo "FAILED compilers: the build with clang"
fi
sanitized=("CFLAGS=-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined
    -fno-sanitize-recover=all" "LDFLAGS=-fsanitize=address,undefined")
last="nothing ran"
if make_ BUILD="$build/asan" "${sanitized[@]//$'\n'/ }" "$build/asan/unit"; then
    tools/run-unit.sh "$build/asan/unit" >"$build/compilers.log" 2>&1
    status=$?
    last=$(tail -n 1 "$build/compilers.log")
fi
if [[ $last =~ ([0-9]+)" passed, "([0-9]+)" failed"$ ]] && ((status == 0 || BASH_REMATCH[2] > 0)); then
    good=$((good + BASH_REMATCH[1]))
    bad=$((bad + BASH_REMATCH[2]))
    ((BASH_REMATCH[2] == 0)) || cat "$build/compilers.log"
else
    bad=$((bad + 1))
    tail -n 40 "$build/compilers.log"
    echo "FAILED compilers: the sanitized unit tests ($last)"
fi
echo "compilers: $good passed, $bad failed"
[ $bad = 0 ]
