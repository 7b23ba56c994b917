#!/bin/bash
# demo.sh: shows all steps on ResNet-50, at a batch that needs more memory than a 16 GB V100
# has: network, costs, plan, check, chart. Files go to BUILD/demo.
set -eu
build=${BUILD:-build}
out=$build/demo
mkdir -p "$out"

run() {
    printf '\n$ %s\n' "$*"
    "$build/$1" "${@:2}"
}

echo "ResNet-50 in training, 256 images a step. Keeping every tensor takes more than a"
echo "16 GB V100 has; 1 GiB of it is left to the driver and the libraries."
run remat-plan zoo resnet50 --batch 256 -o "$out/resnet50.json"
run remat-plan profile "$out/resnet50.json" --device v100-16g -o "$out/v100.json"
# --ignore-clock makes the output the same on every machine, busy or not.
run remat-plan solve "$out/v100.json" --budget 15GiB --time-limit 30 --ignore-clock \
    -o "$out/plan.json"
run remat-plan verify "$out/v100.json" "$out/plan.json"
run remat-plan show "$out/v100.json" "$out/plan.json" --svg "$out/plan.svg"
printf '\nThe chart as a file: %s. All options: %s --help\n' "$out/plan.svg" \
    "$build/remat-plan"
