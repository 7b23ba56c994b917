# exit: 2
remat-plan maxbatch resnet18
