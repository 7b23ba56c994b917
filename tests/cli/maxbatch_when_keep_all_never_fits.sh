# exit: 1
set -- resnet18 -d p100-16g -b 104MiB -p chen-sqrt --fit-only
remat-plan maxbatch "$@"
remat-plan maxbatch "$@" --json
remat-plan maxbatch "$@" -p alibaba --h2d 0 --json
