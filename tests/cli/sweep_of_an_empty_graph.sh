# exit: 0
set -e
echo '{"format":"remat-graph","version":1,"name":"e","time_source":"imported:x","tensors":[],
"ops":[],"keep":[]}' >e.json
remat-plan sweep --ignore-clock e.json -o d --no-seconds -q
cat d/sweep.json
