#!/bin/bash
# seeds.sh NAME [--folders]: prints the seed inputs of fuzz target NAME, one per line: its own
# under tests/fuzz/seeds and, for the readers of files, the good and bad files of the tests.
# --folders prints the folders instead.
set -u
name=$1
folders=()
for folder in "tests/fuzz/seeds/$name" "tests/data/$name/good" "tests/data/$name/bad"; do
    [ -d "$folder" ] && folders+=("$folder")
done
if [ "${2-}" = --folders ]; then
    printf '%s\n' "${folders[@]}"
else
    find "${folders[@]}" -type f ! -name '*.err' | sort
fi
