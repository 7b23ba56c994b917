#!/bin/bash
# mutate.sh [FILE...]: breaks the checker on purpose, one line at a time, and expects the
# unit tests to notice. FILEs are sources of src/verify (all of them without an argument).
# Three ways to break a line:
#   never      a condition that leads to a refusal is never true
#   boundary   < for <=, > for >=, and the reverse
#   dropped    a statement is left out
# A mutant that does not compile, or that the tests refuse, is caught. A survivor is a check
# without a test, unless the line says /* mutation: same */: broken or not, it does the same.
set -u
build=${BUILD:-build}
tree=$build/mutate
suites=$(cd tests && ls test_verify*.c test_replay*.c test_certificate*.c 2>/dev/null | sed -E "s/test_(.*)\.c/\1/" | tr "\n" " ")
rm -rf "$tree" && mkdir -p "$tree"
cp -r src tests tools docs Makefile "$tree" || exit 1
if [ $# = 0 ]; then
    set -- src/verify/*.c
fi

# The mutants of a file, one a line: LINE KIND.
mutants() {
    awk '
    { text[NR] = $0 }
    END {
        for (i = 1; i <= NR; i++) {
            if (text[i] ~ /mutation: same/)
                continue
            if (text[i] ~ /^ +return (reject|rp_fail)\(/ && text[i - 1] ~ /\)$/) {
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
    }' "$1"
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
            if (open && i >= line && text[i + 1] ~ /^ +return (reject|rp_fail)\(/) {
                sub(/\)$/, "))", text[i])
                open = 0
            }
            print text[i]
        }
    }' "$1"
}

make_unit() {
    make -s -C "$tree" build/unit CFLAGS="-O1 -fsanitize=address -Wno-all -Wno-extra" \
        LDFLAGS=-fsanitize=address >"$tree/log" 2>&1
}

passes() { # a shell of its own, so that only it speaks of crashes
    (cd "$tree" && bash -c 'timeout 120 build/unit "$@"; exit $?' _ $suites >log 2>&1)
}

make_unit && passes || {
    cat "$tree/log"
    echo "mutate: the tests do not pass to begin with"
    exit 1
}
caught=0 survived=0
for file; do
    while read -r line kind; do
        apply "$file" "$line" "$kind" >"$tree/$file"
        if cmp -s "$file" "$tree/$file"; then
            continue
        fi
        if make_unit && passes; then
            survived=$((survived + 1))
            echo "SURVIVED $file:$line ($kind): $(sed -n "${line}s/^ *//p" "$file")"
        else
            caught=$((caught + 1))
        fi
    done < <(mutants "$file")
    cp "$file" "$tree/$file"
done
echo "mutate: $caught passed, $survived failed"
[ $survived = 0 ] && [ $caught -gt 0 ]
