#!/bin/bash
# check-clock.sh: no test may depend on the clock. Each `solve`, `sweep` and `compare` that
# searches must say --ignore-clock. It may stand elsewhere in the file if the command has
# "$@" or a variable (`maxbatch` never looks at the clock). Not meant: policies that only record steps,
# what only writes models and tables, and what tests/clock-allowed lists, one FILE and the
# reason a line. In python/tests a statement with time_limit must say --ignore-clock too, or be
# of the tables WORK, which do.
set -u
cd "$(dirname "$0")/.." || exit 1
awk '
# What the last file has shown. Options in "$@" and variables may say it elsewhere in the file.
function report(   i) {
    for (i = 1; i <= n_found; i++) {
        if (set && passes_on[i]) continue
        if (file in allowed) { allowed[file]++; continue }
        print "FAILED clock: " found[i]
        bad = 1
    }
    set = n_found = 0
    file = FILENAME
}
FNR == 1 { report(); text = "" }
FILENAME == "tests/clock-allowed" { if ($1 != "#") allowed[$1] = 0; next }
/^[ \t]*#/ { next }
{
    text = text $0
    if (sub(/\\$/, "", text)) next
    line = text; text = ""
    if (line ~ /--ignore-clock/) set = 1
    n = split(line, part, /[;&|()]+/)
    for (i = 1; i <= n; i++) {
        p = part[i]
        if (p !~ /(remat-plan|program|\$P|\$plan)"? (solve|sweep|compare)( |$)/) continue
        if (p ~ /--ignore-clock|--help/) continue
        if (p ~ /--(merge|jobs|slurm|write-[a-z]*|solution)/) continue
        if (p ~ / (-p|--policy)[ =]/ && p !~ searches) continue
        found[++n_found] = sprintf("%s:%d: this search depends on the clock: %s", FILENAME, FNR, p)
        passes_on[n_found] = p ~ /\$[@*]|\$\{?[a-z]/
    }
}
END {
    report()
    for (f in allowed)
        if (allowed[f] == 0) {
            printf "FAILED clock: tests/clock-allowed: %s needs no exception\n", f
            bad = 1
        }
    exit bad
}' searches='(-p|--policy)[ =]([^ ]*,)?(remat|checkmate|all)([,: ]|$)' tests/clock-allowed tests/cli/*.sh tests/*.sh tools/*.sh
shell=$?
awk '
FNR == 1 { text = ""; open = 0 }
{
    text = text $0
    open += gsub(/[[({]/, "&") - gsub(/[])}]/, "&")
    if (open > 0) next
    if (text ~ /time_limit["\047]?[=:] ?[0-9.]/ && text !~ /--ignore-clock|WORK/) {
        printf "FAILED clock: %s:%d: this search depends on the clock: %s\n", FILENAME, FNR, text
        bad = 1
    }
    text = ""
    open = 0
}
END { exit bad }' $(find python/tests -name '*.py')
bad=$(((shell != 0) + ($? != 0)))
echo "clock: $((2 - bad)) passed, $bad failed"
((bad == 0))
