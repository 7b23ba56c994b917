#!/bin/bash
# check-cli.sh [--accept] [NAME...]: runs command-line cases and compares their output
# exactly. bash runs tests/cli/NAME.sh in an empty folder, with remat-plan on PATH and
# tests/data as ./data. Standard output and error must equal NAME.out and NAME.err (no file
# means no output), and the exit code must be N of its line "# exit: N". --accept rewrites
# .out, .err and the exit line instead.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${BUILD:-build}")

# Runs one case. Prints the differences and returns 1 if there are any.
one() {
    local name=$1 accept=$2 case="$here/tests/cli/$1.sh" tmp status want
    tmp=$(mktemp -d)
    mkdir "$tmp/in"
    ln -s "$here/tests/data" "$tmp/in/data"
    (cd "$tmp/in" && env -i PATH="$build:/usr/bin:/bin" LC_ALL=C HOME=/nonexistent \
        ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} ${RP_MUTANT:+RP_MUTANT=$RP_MUTANT} \
        ${RP_REACHED:+RP_REACHED="$RP_REACHED"} \
        bash "$case" >"$tmp/out" 2>"$tmp/err" </dev/null)
    status=$?
    if [ "$accept" = yes ]; then
        sed -i "s/^# exit: .*/# exit: $status/" "$case"
        for stream in out err; do
            if [ -s "$tmp/$stream" ]; then
                cp "$tmp/$stream" "${case%.sh}.$stream"
            else
                rm -f "${case%.sh}.$stream"
            fi
        done
    fi
    want=$(sed -n 's/^# exit: //p' "$case")
    touch "$tmp/none"
    local ok=0
    [ "$status" = "$want" ] || { ok=1 && echo "exit code $status, expected $want"; }
    for stream in out err; do
        local expected="${case%.sh}.$stream"
        [ -e "$expected" ] || expected=$tmp/none
        diff -u --label "$name.$stream" --label "this run" "$expected" "$tmp/$stream" || ok=1
    done
    rm -rf "$tmp"
    return $ok
}

if [ "${1-}" = --one ]; then
    if report=$(one "$2" "$3"); then
        echo ok
    else
        printf 'FAILED cli: %s\n%s\n' "$2" "$report"
    fi
    exit 0
fi

accept=no
if [ "${1-}" = --accept ]; then
    accept=yes
    shift
fi
if [ $# = 0 ]; then
    mapfile -t names < <(cd "$here/tests/cli" && printf '%s\n' *.sh | sed 's/\.sh$//')
    set -- "${names[@]}"
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf '%s\n' "$@" | BUILD=$build xargs -P "$(nproc)" -I{} "$0" --one {} $accept >"$log"
good=$(grep -cx ok "$log")
bad=$(grep -c '^FAILED cli: ' "$log")
# A case without a verdict is a failure too.
((good + bad == $#)) || bad=$(($# - good))
grep -vx ok "$log"
echo "cli: $good passed, $bad failed"
[ "$bad" = 0 ]
