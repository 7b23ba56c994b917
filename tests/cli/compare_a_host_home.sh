# exit: 0
remat-plan compare data/graph/good/state.json --budget 100%,60% --no-seconds -p chen-sqrt,zero-offload,layer-stream,offload-state
