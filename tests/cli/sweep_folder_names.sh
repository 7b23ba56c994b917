# exit: 2
# A folder is named after its file without the ending, unless nothing would be left.
set -- data/graph/good/small.json -b 100% -p keep-all --no-seconds -q
cp data/graph/good/small.json .json
cp data/graph/good/small.json a.graph.json
cp data/graph/good/small.json a.json
remat-plan sweep --ignore-clock .json a.graph.json "$@" -o d
remat-plan sweep --ignore-clock - "$@" -o d <a.json
find d -type d | sort
remat-plan sweep --ignore-clock a.graph.json .json a.json "$@" -o e
# No graph may lie where points are written.
cp a.json d/a/b.json
remat-plan sweep --ignore-clock d/a/b.json a.json "$@" -o d
