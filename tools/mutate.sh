#!/bin/bash
# mutate.sh [-a] [-n N] [-s SUITES] [-j JOBS] [FILE...]: breaks sources on purpose, one line at a
# time, and expects the unit tests to fail. Without files it breaks all of src/verify.
#   -a  runs those that survive again under AddressSanitizer, which takes several times as long
#   -n  every Nth mutant only
#   -s  these suites, one after the other, instead of those that suites_of names
# Three ways to break a line:
#   never      a condition that leads to a refusal is never true
#   boundary   < for <=, > for >=, and the reverse
#   dropped    a statement is left out
# A mutant is caught if it does not compile or if a test fails. The unchanged sources must
# pass first. A mutant that survives shows a check without a test. Lines whose
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
suites='' every=1 ways=plain
jobs=$(nproc)
while getopts an:s:j: option; do
    case $option in
    a) ways="plain asan" ;;
    n) every=$OPTARG ;;
    s) suites=${OPTARG//,/ } ;;
    j) jobs=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
command -v ld.gold >/dev/null && linker=-fuse-ld=gold || linker= # twice as fast as ld
declare -A flags=([plain]="-O1 -w" [asan]="-O1 -w -fsanitize=address")
for way in $ways; do
    mkdir -p "$tree/$way"
    log=$(make -s BUILD="$tree/$way" CFLAGS="${flags[$way]}" "$tree/$way/unit" 2>&1) || {
        echo "$log"
        exit 1
    }
done
mapfile -t objects < <(cd "$tree/plain" && find src tests texts.o -name '*.o' ! -name main.o)
if [ $# = 0 ]; then
    set -- src/verify/*.c src/verify/certificate/*.c
fi

# The suites that test a file, the fast ones first.
suites_of() { # FILE
    case ${suites:-$1} in
    src/base/*) echo base io json_writer log stop graph_json verifier_sums trace record ;;
    src/model/*) echo cost graph_json timeline bind verifier_updates verifier show optimizer ;;
    src/pack/*) echo first_fit packer policy_plans remat ;;
    src/policy/*)
        echo policy_plans tflms dtr segments phases interval_steps interval_actions \
            interval_policies chen min_cut knapsack partition_rules pytorch source_policies \
            quick_plans policy
        ;;
    src/remat/*) echo remat remat_files ;;
    src/solve/bound/*) echo moment_bound certificate_rows pdhg_bound ;;
    src/solve/core/*)
        echo instance schedule stop temperature policy_plans drop_swaps shrink_lifetimes \
            infeasible warm_start formulation incremental solver_homes solver solver_swap
        ;;
    src/solve/incremental/*) echo incremental drop_swaps shrink_lifetimes solver_homes ;;
    src/solve/lns/*) echo large_neighborhood ;;
    src/solve/local/*) echo drop_swaps shrink_lifetimes incremental solver_homes solver_swap ;;
    src/solve/lp/*) echo formulation swap_relaxation pdhg_bound branch_cut ;;
    src/solve/order/*) echo run_sequence anneal_order ;;
    src/solve/*) echo infeasible plan_hand_over solver_homes solver solver_swap ;;
    src/verify/*)
        echo verifier verifier_sums verifier_updates verifier_random check_certificate \
            hash_replay certificate_rows
        ;;
    src/*) echo base ;;
    *) echo $suites ;;
    esac
}

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

# Whether a program passes a suite. It runs in a shell of its own, whose messages about crashes
# are discarded. A mutant that does not end or takes all memory counts as caught.
passes() { # UNIT SUITE CPU_SECONDS
    local limits="ulimit -c 0 -t $3"
    [[ $1 == */asan/* ]] || limits+=" -v 4000000"
    bash -c "$limits; timeout 600 $1 $2; exit \$?" >/dev/null 2>&1
}

# Whether a mutant passes all suites of its file, built in one of the two ways.
survives() { # WAY DIR FILE
    local suite o rest=()
    for o in "${objects[@]}"; do
        [ "$o" = "${3%.c}.o" ] || rest+=("$tree/$1/$o")
    done
    gcc -std=c11 -D_GNU_SOURCE ${flags[$1]} -Isrc -I"$(dirname "$3")" -c "$2/$3" \
        -o "$2/mutant.o" 2>/dev/null || return
    gcc ${flags[$1]} $linker -o "$2/unit" "$2/mutant.o" "${rest[@]}" -lcunit -lglpk -ljansson \
        -lm -lpthread || return 0
    for suite in $(suites_of "$3"); do
        passes "$2/unit" "$suite" "${cpu_seconds[$suite]}" || return
    done
}

# Tests one mutant and prints the result.
try() { # FILE LINE KIND
    local way dir result=SURVIVED
    for way in $ways; do
        dir=$(mktemp -d "$tree/$way/mutant.XXXXXX")
        mkdir -p "$dir/$(dirname "$1")"
        apply "$@" >"$dir/$1"
        if cmp -s "$1" "$dir/$1"; then
            result=none
        elif [ $result = SURVIVED ] && ! survives $way "$dir" "$1"; then
            result=caught
        fi
        rm -rf "$dir"
    done
    [ $result != SURVIVED ] || result+=" $1:$2 ($3): $(sed -n "${2}s/^ *//p" "$1")"
    echo "$result"
}

# A mutant may take about twice as long as the unchanged sources, which must pass.
declare -A cpu_seconds
for suite in $(for file; do suites_of "$file"; done | tr ' ' '\n' | sort -u); do
    took=$(TIMEFORMAT=%U && { time passes "$tree/$way/unit" $suite 600; } 2>&1) || {
        echo "mutate: $suite fails without any mutant"
        exit 1
    }
    cpu_seconds[$suite]=$(awk '{ print int(2 + 2 * $1) }' <<<"$took")
done
for file; do
    mutants "$file" | sed "s|^|$file |"
done | awk -v every="$every" 'NR % every == 0' >"$tree.list"
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
