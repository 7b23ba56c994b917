# exit: 2
remat-plan maxbatch resnet17 -d p100-16g
