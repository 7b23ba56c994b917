# exit: 5
# The file is not written, and no temporary one is left.
ulimit -f 8
remat-plan zoo resnet50 -o big.json
status=$?
ls | grep big
exit $status
