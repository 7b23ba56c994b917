# exit: 0
remat-plan zoo llama-7b --dtype bf16 --optimizer adamw --state-home host
remat-plan zoo gpt2 --optimizer momentum --state-home any --param-home device
remat-plan zoo gpt2 --width 1024 --layers 24 --optimizer none
remat-plan zoo resnet18 --tiny --batch 6 --micro-batches 3 --dtype bf16 --optimizer sgd --json -o g.json
remat-plan profile g.json --device v100-16g -o timed.json
remat-plan solve --ignore-clock timed.json -b 1MiB -t 1 --no-swap -o plan.json
remat-plan verify timed.json plan.json
