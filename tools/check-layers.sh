#!/bin/sh
# check-layers.sh: the include rule of ARCHITECTURE.md. One check a folder.
set -u
good=0 bad=0

# rule FOLDER ALLOWED: quoted includes in FOLDER begin with one of ALLOWED (a pattern).
rule() {
    [ -d "src/$1" ] || return 0
    wrong=$(grep -rnE --include='*.[ch]' --include='*.cu' --include='*.cuh' '^[[:space:]]*#[[:space:]]*include "' "src/$1" |
        grep -vE "include \"($2)")
    if [ -z "$wrong" ]; then
        good=$((good + 1))
    else
        printf '%s\n' "$wrong" | sed "s|^|FAILED layers: src/$1 may not include this: |"
        bad=$((bad + 1))
    fi
}

# only FILE HEADER: one file alone includes this foreign header.
only() {
    wrong=$(grep -rlE --include='*.[ch]' "include <$2>" src | grep -vxF "src/$1")
    if [ -z "$wrong" ]; then
        good=$((good + 1))
    else
        printf '%s\n' "$wrong" | sed "s|^|FAILED layers: only src/$1 may include <$2>: |"
        bad=$((bad + 1))
    fi
}

rule base 'base/'
rule model 'base/|model/'
rule kernels 'base/|model/graph\.h"|kernels/'
for folder in profile solve; do
    rule $folder "base/|model/|kernels/|$folder/"
done
rule emit 'base/|model/|kernels/|remat/|emit/|(replay\.h|machine\.cuh)"'
rule remat 'remat/'
rule policy 'base/|model/|policy/|solve/'
# What is loaded into other programs: libc, and nothing that ends the process.
rule profile/inject 'profile/(record|inject/[a-z]+)\.h"'
rule verify 'base/|verify/|model/(graph|plan)\.h"'
only solve/glpk.c glpk.h

echo "layers: $good passed, $bad failed"
[ $bad = 0 ]
