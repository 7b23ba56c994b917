# exit: 1
set -- resnet18 --image 64 -d p100-16g -b 256MiB --fit-only -t 0.05 --precision 10
remat-plan maxbatch "$@" --no-swap
remat-plan maxbatch "$@" -p alibaba
# A slow link costs time, and the graph states it.
remat-plan maxbatch "$@" -p alibaba --h2d 2 --d2h 3 -g g.json
grep -o '"[hd]2[hd]_bytes_per_s":[0-9]*' g.json
# Without a link, a policy that must swap has no plan.
remat-plan maxbatch "$@" -p alibaba --h2d 0
