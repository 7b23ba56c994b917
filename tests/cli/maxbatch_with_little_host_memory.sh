# exit: 1
# The plan needs exactly the budget, but its copies find no room.
remat-plan maxbatch resnet18 -d p100-16g -b 107008164 -p alibaba --fit-only --host-budget 1KiB
