#!/bin/bash
# check-clock.sh: no test may depend on the clock. Each `solve`, `sweep`, `compare` and
# `maxbatch` that searches must say --ignore-clock, in its own command or in the `set --` of
# its file. Not meant: policies that only record steps, --help, budgets that no plan fits
# (0, 1), and what tests/clock-allowed lists, one FILE and the reason a line.
set -u
cd "$(dirname "$0")/.." || exit 1
awk '
FNR == 1 { set = 0; text = "" }
FILENAME == "tests/clock-allowed" { if ($1 != "#") allowed[$1] = 0; next }
/^[ \t]*#/ { next }
{
    text = text $0
    if (sub(/\\$/, "", text)) next
    line = text; text = ""
    if (line ~ /(^|[ ;&(])set -- .*--ignore-clock/ || line ~ /[a-z]=.*--ignore-clock/) set = 1
    n = split(line, part, /[;&|()]+/)
    for (i = 1; i <= n; i++) {
        p = part[i]
        if (p !~ /(remat-plan|program|\$P|\$plan)"? (solve|sweep|compare|maxbatch)( |$)/) continue
        if (p ~ /--ignore-clock|--help/ || (set && p ~ /"?\$(@|\{?[a-z]+)/)) continue
        if (p ~ /(-d|--device)[ =]list/ || p ~ /--(merge|jobs|slurm|write-[a-z]*|solution)/) continue
        if (p ~ / (-p|--policy)[ =]/ && p !~ searches) continue
        if (FILENAME in allowed) { allowed[FILENAME]++; continue }
        printf "FAILED clock: %s:%d: this search depends on the clock: %s\n", FILENAME, FNR, p
        bad = 1
    }
}
END {
    for (f in allowed)
        if (allowed[f] == 0) {
            printf "FAILED clock: tests/clock-allowed: %s needs no exception\n", f
            bad = 1
        }
    exit bad
}' searches='(-p|--policy)[ =][^ ]*(remat|checkmate|all)' tests/clock-allowed tests/cli/*.sh tests/*.sh tools/*.sh
