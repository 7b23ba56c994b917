# exit: 0
remat-plan zoo --json | tr '{' '\n' | grep -A1 '"resnet50"'
# Figures that nobody has published are null.
remat-plan zoo --json | grep -oE '"published[a-z_]*":(null)?' | sort | uniq -c
