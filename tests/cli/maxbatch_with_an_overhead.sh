# exit: 0
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 512MiB -p libra --max-overhead 5% --json
