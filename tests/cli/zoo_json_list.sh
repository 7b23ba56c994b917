# exit: 0
remat-plan zoo --json | tr '{' '\n' | grep -A1 '"resnet50"'
