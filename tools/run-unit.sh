#!/bin/bash
# run-unit.sh PROGRAM: runs the unit tests, as many suites at once as there are processors.
# Last line: "unit: N passed, N failed".
set -u
one() {
    local out status
    out=$("$0" "$1" 2>&1)
    status=$?
    [ -z "$out" ] || printf '%s\n' "$out"
    [[ $out == *"unit: "* ]] || echo "FAILED $1: exit code $status"
}
export -f one
"$1" --list | cut -d / -f 1 | uniq | xargs -P "$(nproc)" -I '{}' bash -c 'one "$@"' "$1" '{}' |
    awk '/^unit: / { good += $2; bad += $4; next }
        { print }
        /^FAILED [a-z_]*: exit code/ { bad++ }
        END { print "unit: " good + 0 " passed, " bad + 0 " failed"; exit bad > 0 }'
