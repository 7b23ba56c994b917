# exit: 1
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 512MiB -p keep-all --fit-only
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 512MiB -p chen-sqrt --max-overhead forward --fit-only
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 512MiB -p chen-sqrt --max-overhead 10% --fit-only
