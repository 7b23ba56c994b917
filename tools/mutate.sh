#!/bin/bash
# mutate.sh [-a] [-j JOBS] [-n N] [-o PATTERN] [-s SECONDS] [FILE...]: breaks sources on purpose,
# one line at a time, and expects a test to fail. Without files it breaks all of src.
#   -a  under AddressSanitizer, with the bounds of arrays: the listed mutants that it sees, and
#       those that the last run without -a left. Tests that depend on the clock fail there by
#       themselves; `-o /` takes the unit tests only.
#   -n  every Nth mutant only
#   -o  only tests whose names match the pattern, a basic regular expression; names are
#       SUITE/TEST, cli:CASE and check:NAME
#   -s  the processor time for the tests of a mutant, 10 seconds unless given
# Three ways to break a line:
#   never      a condition that leads to a refusal is never true
#   boundary   < for <=, > for >=, and the reverse
#   dropped    a statement is left out
# All mutants are in one program, and a variable of the environment switches one of them on
# (tests/mutants/mutant.h). Each unit test, each command-line case and the bad files run once
# without a mutant, and note which mutants would have made a difference in them. Only those
# tests then run with that mutant, the fast ones first. A mutant is caught if one fails. One
# that survives shows a line without a test. Lines whose mutants behave as before are listed in
# tests/mutants/same, with the reason.
#   tools/mutate.sh --known: checks that each line of that list still exists.
set -u
export LC_ALL=C
known=tests/mutants/same
if [ "${1-}" = --known ]; then
    awk -F'\t' '
    /^#/ || NF < 2 { next }
    {
        found = 0
        while ((getline line <$1) > 0) {
            gsub(/^ +/, "", line)
            found = found || line == $2
        }
        close($1)
        if (found) good++
        else { bad++; print "FAILED mutants: " $1 " has no line: " $2 }
    }
    END { print "mutants: " good + 0 " passed, " bad + 0 " failed"; exit bad > 0 }' $known
    exit
fi

# Other programs that test, each with whole networks or with what other programs make of them.
checks='bad completion man html libremat examples replay profile measuring emit'

# Runs one test of the copy: SUITE/TEST, cli:CASE or check:NAME. A check writes into the build
# folder, so that it cannot run twice at the same time. $limit is in seconds of the clock.
limit=600
run_test() { # TEST
    case $1 in
    cli:*) [ "$(timeout $limit tools/check-cli.sh --one "${1#cli:}" no)" = ok ] ;;
    check:*) flock -o "$BUILD/$1" timeout $limit "$(ls {tools,tests}/check-"${1#check:}.sh" 2>/dev/null)" ;;
    *) timeout $limit "$BUILD/unit" "$1" ;;
    esac
}

# Notes the mutants that would make a difference in a test, in lines "NUMBER RANK SECONDS TEST".
# Tests of low rank run first: the fast ones.
record() { # TEST
    local name=${1//[\/:]/.} took
    local RP_REACHED=$BUILD/reached/$name TIMEFORMAT='%U %S'
    export RP_REACHED
    cp "$BUILD/zeros" "$RP_REACHED"
    if took=$({ time run_test "$1" >"$RP_REACHED.log" 2>&1; } 2>&1); then
        cmp -l "$RP_REACHED" "$BUILD/zeros" | awk -v test="$1" -v took="$took" '
            BEGIN { split(took, t, " "); seconds = t[1] + t[2] }
            { print $1 - 1, seconds, seconds, test }
            ' >"$RP_REACHED.runs"
    else
        echo "mutate: $1 fails without any mutant and is left out" >&2
    fi
    rm "$RP_REACHED"
}

# The tests of one mutant, until $SECONDS_EACH are spent: first the one that caught the last
# mutant of its file, then by rank. Lines "SECONDS TEST".
tests_of() { # NUMBER FILE
    local last=$BUILD/caught/${2//\//.}
    [ -e "$last" ] || last=/dev/null
    awk -v most="$SECONDS_EACH" '
    FILENAME == ARGV[1] { first = $0; next }
    $3 == first { print $2, $3; next }
    { rank += $1 }
    rank <= most || n == 0 { line[n++] = $2 " " $3 }
    END { for (i = 0; i < n; i++) print line[i] }' "$last" "$BUILD/runs/$1"
}

# Runs the tests of one mutant until one fails. A mutant that does not end or takes all memory
# counts as caught. A shell of its own keeps its messages about crashes to itself.
try() { # NUMBER FILE LINE KIND
    local seconds test limit
    export RP_MUTANT=$1
    [ -s "$BUILD/runs/$1" ] || { echo "UNREACHED $2:$3 ($4)" && return; }
    while read -r seconds test; do
        [ -n "${ASAN_OPTIONS-}" ] || ulimit -S -v 4000000
        ulimit -S -c 0 -t $((2 + 2 * ${seconds%.*}))
        limit=$((20 + 20 * ${seconds%.*})) # where threads wait for ever
        (run_test "$test") >/dev/null 2>&1 && continue
        [[ $test == check:* ]] || echo "$test" >"$BUILD/caught/${2//\//.}"
        echo caught
        return
    done < <(tests_of "$1" "$2")
    echo "SURVIVED $2:$3 ($4)"
}

if [ "${1-}" = --record ] || [ "${1-}" = --try ]; then
    "${1#--}" "${@:2}"
    exit 0
fi

every=1 asan= jobs=$(nproc) only=.
export SECONDS_EACH=10
while getopts aj:n:o:s: option; do
    case $option in
    a) asan=-asan ;;
    j) jobs=$OPTARG ;;
    n) every=$OPTARG ;;
    o) only=$OPTARG ;;
    s) SECONDS_EACH=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
# As in `make check`.
export REMAT_PLAN_HIGHS=${REMAT_PLAN_HIGHS:-$(tools/check-python.sh highs)}
tree=$(realpath -m "${BUILD:-build}/mutate$asan")

# The copy, with its mutants. A file that has not changed keeps its time, so that make leaves it.
refresh() { # FROM TO
    mkdir -p "${2%/*}"
    cmp -s "$1" "$2" || cp "$1" "$2"
}
mkdir -p "$tree"
# What has been removed or renamed since the last run would be built too.
for file in $(cd "$tree" && find src tests -name '*.[ch]' ! -name mutant.c 2>/dev/null); do
    [ -e "$file" ] || rm "$tree/$file"
done
git ls-files -z | grep -zv '^src/.*\.c$' | xargs -0 cp -a --parents -t "$tree" || exit
# Not the sources whose text goes into other programs.
mapfile -t files < <(git ls-files 'src/*.c' |
    grep -v '^src/emit/runtime/\|^src/emit/templates/\|^src/kernels/\|^src/main.c' | sort)
first=0
: >"$tree/list"
for file in "${files[@]}"; do
    first=$((first + 1000)) # so that a change to a file leaves the numbers in the others
    awk -v file="$file" -v first=$first -v list="$tree/list" -v asan="$asan" \
        -f tests/mutants/switch.awk $known "$file" >"$tree/switched.c"
    refresh "$tree/switched.c" "$tree/$file"
done
for file in $(git ls-files 'src/*.c' | grep -vxF "$(printf '%s\n' "${files[@]}")"); do
    refresh "$file" "$tree/$file"
done
for place in remat profile/inject; do
    refresh tests/mutants/mutant.c "$tree/src/$place/mutant.c"
done
printf '%s\n' "$@" >"$tree/files"
cd "$tree" || exit
[ -n "$asan" ] && [ -e "${tree%"$asan"}/left" ] && left=${tree%"$asan"}/left || left=/dev/null
awk -F'\t' -v every="$every" -v asan="$asan" '
FILENAME == ARGV[1] { chosen[$1]; all = all || $1 == ""; next }
FILENAME == ARGV[2] { survived[$0]; next }
(all || $2 in chosen) && (asan == "" || $5 || "SURVIVED " $2 ":" $3 " (" $4 ")" in survived) &&
    ++n % every == 0 { print $1, $2, $3, $4 }' files "$left" list >todo
tried=$(wc -l <todo)

export BUILD=$tree/build
# Checks call make too.
export CFLAGS="-O1 -w -include $tree/tests/mutants/mutant.h"
if [ -n "$asan" ]; then
    CFLAGS+=" -fsanitize=address,bounds -fno-sanitize-recover=bounds"
    export LDFLAGS=-fsanitize=address,bounds # of the programs that checks build
    export ASAN_OPTIONS=detect_leaks=1
fi
make -s -j"$jobs" tests >build.log 2>&1 || { cat build.log && exit 1; }
rm -rf "$BUILD"/{reached,runs,caught}
mkdir "$BUILD"/{reached,runs,caught}
head -c $((first + 1000)) /dev/zero >"$BUILD/zeros"
{
    "$BUILD/unit" --list
    find tests/cli -name '*.sh' -printf 'cli:%f\n' | sed 's/\.sh$//' | sort
    printf 'check:%s\n' $checks
} | grep -- "$only" >tests-to-run || {
    echo "mutate: no test has a name that matches '$only'"
    exit 2
}
xargs -P "$jobs" -n 1 "$PWD/tools/mutate.sh" --record <tests-to-run
find "$BUILD/reached" -name '*.runs' -exec cat {} + | sort -k1,1n -k2,2g |
    awk -v to="$BUILD/runs/" '
    $1 != last { close(to last); last = $1 }
    { print $2, $3, $4 >(to last) }'
xargs -r -P "$jobs" -n 4 "$PWD/tools/mutate.sh" --try <todo >out
grep -v caught out | sort -t: -k1,1 -k2,2n >left
while read -r verdict place kind; do
    echo "$verdict $place $kind: $(sed -n "${place#*:}s/^ *//p" "$OLDPWD/${place%:*}")"
done <left
survived=$(wc -l <left)
echo "mutate: $((tried - survived)) passed, $survived failed"
[ "$survived" = 0 ] && [ "$tried" -gt 0 ]
