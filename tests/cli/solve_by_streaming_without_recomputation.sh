# exit: 0
set -e
g=data/graph/good/any_home.json
for p in zero-offload layer-stream:checkpoint=sqrt offload-state; do
    remat-plan solve $g --budget 1500 --no-recompute -p $p -o p.json || echo "exit code $?"
done
