# exit: 0
remat-plan zoo --json | tr '{' '\n' | grep -A1 '"resnet50"'
# Figures that nobody has published are null.
remat-plan zoo --json | grep -oE '"published[a-z_]*":(null)?' | sort | uniq -c
remat-plan zoo --json | tail -c 4 | od -An -c
remat-plan zoo resnet18 --tiny --optimizer adamw --state-home host --json | grep -o '"[a-z]*_home_bytes":[0-9]*'
