# exit: 1
remat-plan maxbatch resnet18 -d p100-16g -b 1MiB -p libra
