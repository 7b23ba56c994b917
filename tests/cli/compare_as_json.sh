# exit: 0
remat-plan compare --no-seconds data/graph/good/chain.json -b 70% -p chen-sqrt,tflms --json
