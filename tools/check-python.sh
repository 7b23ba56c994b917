#!/bin/bash
# check-python.sh setup|plain|full|oracle|highs|cupti|packages: the tests of the Python package,
# and those of the kernels that need PyTorch.
#   plain     those that need only python3: files, plans, calls of the program
#   setup     makes the virtual environment of `full` in the user's cache, if there is none
#   highs     prints the path of HiGHS's library in that environment, if it is there
#   cupti     prints the path of the libcupti that the tests use, if it is there
#   packages  prints that environment's folder of packages, if it is there
#   full      ruff, mypy and the tests with PyTorch and JAX
#   oracle    compares the reference kernel of every op kind with PyTorch (python/tests/oracle)
# SKIP_PYTHON=1 skips `full` and `oracle`. Under CI (CI=true) a skip is a failure.
# REMAT_PLAN_PYTHON names
# a python with the packages of python/requirements-test.txt to use instead.
set -u
mode=$1
build=$(realpath "${BUILD:-build}")
export REMAT_PLAN=$build/remat-plan
export PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")/../python" || exit 1
pins=requirements-test.txt

say() {
    echo "remat-plan setup: $*" >&2
}

# The environment belongs to the pinned versions and to the version of python.
key=$({ cat $pins && python3 --version; } 2>/dev/null | sha256sum | cut -c 1-12)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/remat-plan/venv-$key
python=${REMAT_PLAN_PYTHON:-$venv/bin/python}
why=$build/python-setup.why # the set-up failed
# Without a driver, the CUPTI that PyTorch needs crashes, so the tests use this one.
cupti_package=nvidia-cuda-cupti==13.0.85
cupti=${venv%/*}/${cupti_package/==/-}

# Prints why there is no environment to test in; fails if there is one.
missing() {
    if [ "${SKIP_PYTHON:-}" = 1 ]; then
        echo "SKIP_PYTHON=1"
    elif [ -n "${REMAT_PLAN_PYTHON:-}" ]; then
        [ ! -x "$python" ] && echo "REMAT_PLAN_PYTHON: no program '$python'"
    elif [ ! -e "$venv/ready" ]; then
        cat "$why" 2>/dev/null || echo "its virtual environment was never made: make check makes it"
    else
        return 1
    fi
}

setup() {
    local log=$build/python-setup.log start=$SECONDS
    exec 9>"$venv.lock" && flock 9
    missing >/dev/null || return
    say "installing PyTorch, JAX and what the tests of the Python package need: about 5 GB," \
        "some minutes, once; SKIP_PYTHON=1 leaves it and these tests out"
    say "in $venv"
    rm -rf "$venv"
    if python3 -m venv "$venv" && "$venv/bin/python" -m pip install --no-deps \
        --disable-pip-version-check --no-input -q -r $pins; then
        touch "$venv/ready"
        say "done in $((SECONDS - start)) s, $(du -sh "$venv" | cut -f 1)"
    fi >"$log" 2>&1 9>&-
    if [ -e "$venv/ready" ]; then
        tail -n 1 "$log" >&2
        rm -f "$why"
    else
        rm -rf "$venv"
        echo "set-up failed: $(grep -m 1 -iE 'error|no space|not available' "$log" ||
            tail -n 1 "$log")" >"$why"
        say "$(cat "$why")"
    fi
}

setup_cupti() {
    [ ! -d "$cupti" ] && [ -e "$venv/ready" ] &&
        "$venv/bin/python" -m pip install --no-deps --disable-pip-version-check --no-input -q \
            --target "$cupti.$$" $cupti_package >"$build/cupti-setup.log" 2>&1 &&
        mv -T "$cupti.$$" "$cupti" || rm -rf "$cupti.$$"
}

# Runs a test program whose output ends with counts, as those of unittest and pytest do.
good=0 bad=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
count() {
    local name=$1 passed failed status
    shift
    "$@" >"$log" 2>&1
    status=$?
    passed=$(grep -oE '[0-9]+ passed|^Ran [0-9]+ tests?' "$log" | tail -n 1 | grep -oE '[0-9]+')
    failed=$(tail -n 1 "$log" | grep -oE '[0-9]+ (failed|errors?)|(failures|errors)=[0-9]+' |
        grep -oE '[0-9]+' | awk '{ n += $1 } END { print n + 0 }')
    [[ $status != 0 && $failed = 0 ]] && failed=1
    if ((failed > 0)); then
        cat "$log"
        echo "FAILED $name: exit code $status"
        [[ $name = unittest ]] && passed=$((passed - failed))
    fi
    good=$((good + ${passed:-0})) bad=$((bad + failed))
}

# Runs a checker that says nothing of interest if all is well.
try() {
    local name=$1
    shift
    if "$@" >"$log" 2>&1; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        cat "$log"
        echo "FAILED $name"
    fi
}

# skip NAME WHY: ends the part.
skip() {
    if [ "${CI:-}" = true ]; then
        echo "FAILED $1: skipped ($2), which is a failure under CI"
        echo "$1: 0 passed, 1 failed"
        exit 1
    fi
    echo "$1: skipped ($2)"
    exit 0
}

case $mode in
setup)
    mkdir -p "$(dirname "$venv")" && reason=$(missing) && [ "${SKIP_PYTHON:-}" != 1 ] &&
        [ -z "${REMAT_PLAN_PYTHON:-}" ] && setup
    [ "${SKIP_PYTHON:-}" = 1 ] || setup_cupti
    exit 0
    ;;
highs)
    find "$(dirname "$python")/../lib" -path '*/highspy/libhighs.so.1' 2>/dev/null | head -n 1
    exit 0
    ;;
cupti)
    find "$cupti" -name 'libcupti.so.1[1-9]' 2>/dev/null | head -n 1
    exit 0
    ;;
packages)
    missing >/dev/null || "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
    exit 0
    ;;
plain)
    name=python-plain
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
        skip $name "no python3 of version 3.10 or newer"
    count unittest python3 -m unittest discover -s tests/plain -t tests/plain
    ;;
full)
    name=python
    reason=$(missing) && skip $name "$reason"
    ruff=("$python" -m ruff --config pyproject.toml)
    try "ruff check" "${ruff[@]}" check --no-cache . ../examples
    try "ruff format" "${ruff[@]}" format --no-cache --check . ../examples
    try mypy "$python" -m mypy --cache-dir "$build/mypy"
    MYPYPATH=tests try "mypy of the oracle" "$python" -m mypy --cache-dir "$build/mypy" -p oracle
    count pytest "$python" -m pytest -p no:cacheprovider tests --ignore tests/plain
    ;;
oracle)
    name=torch-oracle
    reason=$(missing) && skip $name "$reason"
    "$python" -c 'import torch' 2>/dev/null || skip $name "$python has no PyTorch"
    PYTHONPATH=tests "$python" -m oracle "$build/run-ops"
    exit
    ;;
*)
    echo "usage: check-python.sh setup|plain|full|oracle|highs|cupti|packages" >&2
    exit 2
    ;;
esac
echo "$name: $good passed, $bad failed"
((bad == 0))
