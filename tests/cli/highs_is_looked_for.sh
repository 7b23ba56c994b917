# exit: 0
# Where HiGHS is looked for, and which libraries are refused. These only tell their version.
header=$(dirname "$0")/../../src/solve/engine/highs_api.h
library() { # FILE MAJOR MINOR BYTES
    mkdir -p "${1%/*}"
    {
        sed -nE 's/^ +X\([^,]+, (\w+),.*/\1/p' "$header" |
            grep -vx 'version.*\|create\|getSizeofHighsInt' | sed 's/.*/void Highs_&(void) {}/'
        echo "int Highs_versionMajor(void) { return $2; }"
        echo "int Highs_versionMinor(void) { return $3; }"
        echo "const char *Highs_version(void) { return \"$2.$3.0\"; }"
        echo "void *Highs_create(void) { return \"\"; }"
        echo "int Highs_getSizeofHighsInt(const void *highs) { return highs ? $4 : 0; }"
    } >library.c
    gcc -shared -fPIC -o "$1" library.c
}
program=$(command -v remat-plan)
where() { # [PATH]
    PATH=${1-/nowhere} "$program" solve --ignore-clock data/graph/good/chain.json -b 100% --engine highs -v 2>&1 |
        sed -n "s|$PWD/||g; s|.*HiGHS|HiGHS|p"
}

library of/0.9.so 0 9 4
library of/1.7.so 1 7 4
library of/1.8.so 1 8 4
library of/2.9.so 2 9 4
library of/64-bit.so 1 8 8
for file in of/*; do
    REMAT_PLAN_HIGHS=./$file where
done

# Two folders of libraries, where others that the machine has cannot be seen.
library first/libhighs.so.1 1 7 4
library second/libhighs.so.1 1 7 4
library second/libhighs.so 1 8 8
cp of/1.8.so first/libhighs.so
LD_LIBRARY_PATH=first where
export LD_LIBRARY_PATH=second
where

# The packages of every python3 in PATH, in its order. other/ has no python3.
package=lib/python3.12/site-packages/highspy/libhighs.so.1
for python in none old without new last; do
    mkdir -p $python/bin
    cp /bin/true $python/bin/python3
done
library old/$package 1 6 4
mkdir -p without/lib/python3.12/site-packages/highspy
library new/lib/python3.11/dist-packages/highspy/libhighs.so.1 1 5 4
library new/$package 1 10 4
library last/$package 1 11 4
library other/$package 1 12 4
mkdir other/bin
where "$PWD/none/bin:$PWD/old/bin"
where "$PWD/none/bin:$PWD/old/bin:$PWD/other/bin:$PWD/new/bin:$PWD/last/bin"
where "$PWD/without/bin"
where "$PWD/last/bin:$PWD/new/bin"
where last/bin
