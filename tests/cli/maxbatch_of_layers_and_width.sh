# exit: 0
# The largest network instead of the largest batch.
set -- -d rtx4090 -b 4GiB -t 0.3 --no-swap --optimizer adamw --dtype bf16 --seq 128
remat-plan maxbatch gpt2 --largest layers --batch 4 "$@" -o plan.json -g graph.json &&
    remat-plan verify graph.json plan.json
remat-plan maxbatch gpt2 llama-7b --largest width --layers 2 "$@" --csv table.csv && cat table.csv
remat-plan maxbatch gpt2 --largest width --layers 2 -p keep-all "$@" --json
# Batches are multiples of the micro-batches.
remat-plan maxbatch gpt2 --layers 2 --micro-batches 8 -p keep-all "$@"
