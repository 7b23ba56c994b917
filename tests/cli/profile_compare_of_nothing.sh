# exit: 0
# Graphs without ops have no furthest op.
printf '{"format":"remat-graph","version":1,"name":"none","time_source":"imported:",
"tensors":[],"ops":[],"keep":[]}' >none.json
remat-plan profile --compare none.json none.json
remat-plan profile --compare none.json none.json --json
