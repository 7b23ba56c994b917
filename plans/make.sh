#!/bin/bash
# plans/make.sh: makes the graphs and plans of this folder again. `make check` verifies them.
# Run this only if the planner finds better plans or the zoo changes.
set -eu
cd "$(dirname "$0")"
program=${BUILD:-../build}/remat-plan
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT

one() { # NAME DEVICE BUDGET NETWORK OPTIONS...
    local name=$1 device=$2 budget=$3
    shift 3
    "$program" zoo -q "$@" -o "$scratch"
    "$program" profile -q "$scratch" --device "$device" -o "$name.graph.json"
    "$program" solve "$name.graph.json" --budget "$budget" --time-limit 60 --ignore-clock \
        -o "$name.plan.json"
}

one vgg16-b176-p100 p100-16g 8GiB vgg16 --batch 176
one resnet50-b256-v100 v100-16g 15GiB resnet50 --batch 256
one unet-b11-p100 p100-16g 60% unet --batch 11
one bert-l4-b32-v100 v100-16g 60% bert-base --batch 32 --layers 4
one mobilenet_v2-b128-titanv titan-v 50% mobilenet_v2 --batch 128
