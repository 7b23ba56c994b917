#!/bin/bash
# seeds.sh NAME [--folders]: the seed inputs of fuzz target NAME, one a line: its own under
# tests/fuzz/seeds, and for the readers of files the good and bad files of the tests.
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
