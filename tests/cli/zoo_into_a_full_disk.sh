# exit: 5
remat-plan zoo resnet18 --tiny -o - >/dev/full
