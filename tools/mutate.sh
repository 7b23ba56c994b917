#!/bin/bash
# mutate.sh [-s SUITES] [-j JOBS] [FILE...]: breaks sources on purpose, one line at a time,
# and expects the unit tests to fail. Without arguments it breaks all of src/verify and runs
# the suites of the checker. For other sources, name the suites that test them; choose fast
# ones, since they run once for each mutant:
#   tools/mutate.sh -s run_sequence,anneal_order src/solve/order/*.c
# Three ways to break a line:
#   never      a condition that leads to a refusal is never true
#   boundary   < for <=, > for >=, and the reverse
#   dropped    a statement is left out
# A mutant is caught if it does not compile or if a test fails. The unchanged sources must
# link and pass first. A mutant that survives shows a check without a test. Lines whose
# mutants behave as before are listed in tools/mutate.same.
#   tools/mutate.sh --known: checks that each line of that list still exists.
set -u
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
    END { print "mutants: " good + 0 " passed, " bad + 0 " failed"; exit bad > 0 }' tools/mutate.same
    exit
fi
tree=${BUILD:-build}/mutate
flags="-O1 -w -fsanitize=address"
mapfile -t suites < <(cd tests && ls test_{verifier,hash_replay,check_certificate,certificate_rows}*.c 2>/dev/null |
    sed -nE 's/^test_([a-z_]+)\.c$/\1/p')
jobs=$(nproc)
while getopts s:j: option; do
    case $option in
    s) IFS=', ' read -ra suites <<<"$OPTARG" ;;
    j) jobs=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
mkdir -p "$tree"
make -s BUILD="$tree" CFLAGS="$flags" LDFLAGS=-fsanitize=address "$tree/unit" >"$tree.log" 2>&1 || {
    cat "$tree.log"
    exit 1
}
mapfile -t objects < <(find "$tree/src" "$tree/tests" "$tree/texts.o" -name '*.o' \
    ! -path '*/fuzz/*' ! -name 'main.o')
if [ $# = 0 ]; then
    set -- src/verify/*.c src/verify/certificate/*.c
fi

# Prints the mutants of a file, one per line: LINE KIND.
mutants() {
    awk -F'\t' -v file="$1" '
    FILENAME != file { if ($1 == file) same[$2]; next }
    { text[++n] = $0 }
    END {
        for (i = 1; i <= n; i++) {
            bare = text[i]
            gsub(/^ +/, "", bare)
            if (bare in same)
                continue
            if (text[i] ~ /^ +return (reject|rp_fail|rp_reject_step)\(/ && text[i - 1] ~ /\)$/) {
                for (k = i - 1; k > i - 5 && text[k] !~ /^ +(else )?if \(/; k--)
                    ;
                if (text[k] ~ /if \(/)
                    print k, "never"
            }
            if (text[i] ~ /^ +(if|while|return|for) .*[^-<>=][<>]=? / && text[i] !~ /->.*->.*= NULL/)
                print i, "boundary"
            if (text[i] ~ /^ +[*a-z_][a-z_>.\[\]()&*0-9-]*( [-+|&]?= .*|\+\+|\(.*\));$/ &&
                text[i] !~ /^ +(return|rp_rc|free|va_|vsnprintf|snprintf|assert|uint|char|bool|size_t)/)
                print i, "dropped"
        }
    }' tools/mutate.same "$1"
}

apply() { # FILE LINE KIND
    awk -v line="$2" -v kind="$3" '
    NR == line && kind == "never" { sub(/if \(/, "if (0 \\&\\& ("); open = 1 }
    NR == line && kind == "boundary" {
        if (match($0, / [<>]= /))
            $0 = substr($0, 1, RSTART + 1) substr($0, RSTART + 3)
        else if (match($0, / [<>] /))
            $0 = substr($0, 1, RSTART + 1) "=" substr($0, RSTART + 2)
    }
    NR == line && kind == "dropped" { sub(/[^ ].*/, ";") }
    { text[NR] = $0 }
    END {
        for (i = 1; i <= NR; i++) {
            if (open && i >= line && text[i + 1] ~ /^ +return (reject|rp_fail|rp_reject_step)\(/) {
                sub(/\)$/, "))", text[i])
                open = 0
            }
            print text[i]
        }
    }' "$1"
}

passes() { # UNIT; in a shell of its own, whose messages about crashes are discarded
    bash -c 'ulimit -c 0; timeout "$@" >/dev/null 2>&1' _ "$max_seconds" "$1" \
        "${suites[@]}" 2>/dev/null
}

link() { # UNIT OBJECT...
    gcc $flags -o "$@" -lcunit -lglpk -ljansson -lm -lpthread
}

# Tests one mutant and prints the result.
try() { # FILE LINE KIND
    local dir rest=()
    dir=$(mktemp -d "$tree/mutant.XXXXXX")
    mkdir -p "$dir/$(dirname "$1")"
    apply "$@" >"$dir/$1"
    for o in "${objects[@]}"; do
        [ "$o" = "$tree/${1%.c}.o" ] || rest+=("$o")
    done
    if cmp -s "$1" "$dir/$1"; then
        :
    elif ! gcc -std=c11 -D_GNU_SOURCE $flags -Isrc -I"$(dirname "$1")" -c "$dir/$1" \
        -o "$dir/mutant.o" 2>/dev/null; then
        echo "caught"
    elif ! link "$dir/unit" "$dir/mutant.o" "${rest[@]}" || passes "$dir/unit"; then
        echo "SURVIVED $1:$2 ($3): $(sed -n "${2}s/^ *//p" "$1")"
    else
        echo "caught"
    fi
    rm -rf "$dir"
}

max_seconds=600
SECONDS=0
link "$tree/whole" "${objects[@]}" && passes "$tree/whole" || {
    echo "mutate: the tests fail without any mutant"
    exit 1
}
max_seconds=$((10 + 3 * SECONDS)) # a mutant that does not end counts as caught
for file; do
    mutants "$file" | sed "s|^|$file |"
done >"$tree.list"
rm -f "$tree".out*
for ((j = 0; j < jobs; j++)); do
    awk -v j=$j -v of="$jobs" 'NR % of == j' "$tree.list" | while read -r file line kind; do
        try "$file" "$line" "$kind"
    done >"$tree.out$j" &
done
wait
cat "$tree".out* | grep SURVIVED
survived=$(cat "$tree".out* | grep -c SURVIVED) caught=$(cat "$tree".out* | grep -c caught)
echo "mutate: $caught passed, $survived failed"
[ "$survived" = 0 ] && [ "$caught" -gt 0 ]
