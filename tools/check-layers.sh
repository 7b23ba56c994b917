#!/bin/bash
# check-layers.sh: the structure of src/ as ARCHITECTURE.md states it.
#   includes   each folder includes only what its row of the table below names
#   headers    every source of a library has the header that names what it gives:
#              x_y.c has x_y.h or x.h beside it, or its folder has one file per kind
#   names      no two files share a base name
#   circles    no two files need each other, by includes or by calls
#   sizes      no folder holds more than 20 sources, except folders with one file per kind
# One check per folder and rule. Calls are read from the object files in BUILD.
set -u
export LC_ALL=C
build=${BUILD:-build}
good=0 bad=0

verdict() { # WHAT FAULTS; one fault per line
    if [ -z "$2" ]; then
        good=$((good + 1))
    else
        printf '%s\n' "$2" | sed "s|^|FAILED layers: $1: |"
        bad=$((bad + 1))
    fi
}

sources() { # FOLDER: its sources, not those of folders below
    find "src/$1" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.cu' -o -maxdepth 1 -name '*.cuh'
}

# row FOLDER ALLOWED: quoted includes in FOLDER must match ALLOWED, a pattern.
rows=()
row() {
    rows+=("$1")
    verdict "src/$1 may not include this" "$(sources "$1" |
        xargs grep -HnE '^[[:space:]]*#[[:space:]]*include "' | grep -vE "include \"($2)")"
}

# only FILES HEADER: no files but these, a pattern, may include this foreign header.
only() {
    verdict "only src/$1 may include <$2>" \
        "$(grep -rlE --include='*.[ch]' "include <$2>" src | grep -vxE "src/$1")"
}

row . 'base/|cmd/commands\.h"'
row cmd ''
row cmd/completion ''
row base 'base/'
row model 'base/|model/'
row model/zoo 'base/|model/'
row kernels 'base/|model/graph\.h"|kernels/'
row kernels/cuda 'kernels/'
row profile 'base/|model/|profile/'
row profile/join 'base/|model/graph\.h"|profile/(trace|record)\.h"|profile/join/'
# This is loaded into other programs: it may use only libc and nothing that ends the process.
row profile/inject 'profile/(record|inject/[a-z]+)\.h"'
row pack 'base/|model/|pack/'
row pack/component 'base/|pack/(packer\.h"|component/)'
row solve/core 'base/|model/|solve/core/'
row solve/incremental 'base/|model/|solve/(core|incremental)/'
row solve/local 'base/|model/|solve/(core|incremental|local)/'
row solve/order 'base/|model/|solve/(core|order)/'
row solve/child 'base/|solve/child/'
row solve/engine 'base/|solve/(child|engine)/'
row solve/lp 'base/|model/|solve/(core|engine|lp)/'
row solve/mip 'base/|model/|solve/(child|core|engine|lp|mip)/'
row solve/lns 'base/|model/|solve/(core|engine|lp|mip|milp|lns)/'
row solve/milp 'base/|model/|solve/(child|core|lp|engine|milp|milp_cuts)/'
row solve/milp_cuts 'base/|model/|solve/(core|engine|lp|milp|milp_cuts)/'
row solve/exchange 'base/|model/|pack/addresses\.h"|solve/(core|engine|local|lp|milp|exchange)/'
row solve/moment 'base/|model/|solve/(core|engine|lp|moment)/'
row solve/bound 'base/|model/|solve/(core|lp|bound)/'
row solve/exhaustive 'base/|model/|solve/(core|exhaustive)/'
row solve/construct 'base/|model/|solve/(core|incremental|local|construct)/|solve/[a-z_]*\.h'
row solve/search 'base/|model/|solve/'
row solve 'base/|model/|pack/|solve/'
row policy 'base/|model/|pack/addresses\.h"|policy/|solve/(solver\.h"|core/|engine/engine\.h")'
row remat 'remat/|base/sha256\.h"'
row emit 'base/|model/|kernels/|remat/|emit/'
row emit/memory 'base/|model/|emit/'
row emit/page 'base/|model/|emit/'
row emit/runtime 'emit/|kernels/|(replay|expected|program)\.h"'
row verify 'base/|verify/|model/(graph|plan)\.h"'
row verify/certificate 'base/|verify/|model/(graph|plan)\.h"'
only 'solve/engine/[a-z_]+\.c' glpk.h

verdict "a folder without a row" "$(find src -type d ! -path '*/templates*' |
    sed 's|^src/*||; s|^$|.|' | grep -vxF "$(printf '%s\n' "${rows[@]}")")"

# Folders with one file per kind share a header that lists the kinds.
kinds='src/(cmd|policy|kernels|model/zoo)/'

headless() {
    find src -name '*.c' ! -path '*/templates/*' ! -path src/main.c | grep -vE "^$kinds" |
        while read -r file; do
            stem=${file%.c}
            until [ -e "$stem.h" ]; do
                [ "${stem%_*}" != "$stem" ] || { echo "$file" && break; }
                stem=${stem%_*}
            done
        done
}
verdict "a source without its header" "$(headless)"

stems() {
    find src -name '*.[ch]' ! -path '*/templates/*' | sed -E 's|\.[ch]$||' | sort -u
}
verdict "a base name twice" "$(stems | awk -F/ '{ n[$NF]++; where[$NF] = where[$NF] " " $0 }
    END { for (k in n) if (n[k] > 1) print k ":" where[k] }' | sort)"
verdict "a crowded folder" "$(find src -name '*.[ch]' ! -path '*/templates/*' |
    grep -vE "^$kinds" | sed 's|/[^/]*$||' | sort | uniq -c |
    awk '$1 > 20 { print $2 " (" $1 " files)" }')"

# Prints edges FROM TO between files: includes, and calls as found in the object files.
edges() {
    find src -name '*.[ch]' ! -path '*/templates/*' -print0 |
        xargs -0 grep -HE '^[[:space:]]*#[[:space:]]*include "' |
        sed -E 's|^src/([^:]*):.*"(.*)".*|\1 \2|'
    find src -name '*.c' ! -path '*/templates/*' | while read -r file; do
        object=$build/${file%.c}.o
        [ -e "$object" ] || continue
        nm "$object" | awk -v f="${file#src/}" '
            $1 == "U" { print "U", f, $2 }
            NF == 3 && $2 ~ /^[TDBR]$/ { print "D", f, $3 }'
    done | awk '$1 == "D" { at[$3] = $2 } $1 == "U" { from[++n] = $2; to[n] = $3 }
        END { for (i = 1; i <= n; i++) if (to[i] in at) print from[i], at[to[i]] }'
}
verdict "a circle of files" "$(edges | awk '$1 != $2' | sort -u | tsort 2>&1 >/dev/null |
    awk '/loop/ { if (line) print line; line = ""; next } { line = line " " $2 }
        END { if (line) print line }' | sed 's/^ //')"

echo "layers: $good passed, $bad failed"
[ $bad = 0 ]
