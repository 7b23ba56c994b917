# exit: 2
remat-plan maxbatch resnet18 -d p100-16g --max-overhead little
