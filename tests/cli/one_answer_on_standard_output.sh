# exit: 0
set -e
remat-plan solve --ignore-clock data/graph/good/small.json -b 128 --certificate - -o plan.json >proof.json
remat-plan verify -q --certificate proof.json data/graph/good/small.json plan.json
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 512MiB -p chen-sqrt --fit-only -g graph.json -o - >plan.json
remat-plan verify -q graph.json plan.json
remat-plan compare --no-seconds data/graph/good/chain.json -b 80% -p keep-all --csv -
