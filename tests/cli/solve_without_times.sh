# exit: 3
sed "s/\"time_ns\": [0-9]*/\"time_ns\": 0/" data/graph/good/small.json >none.json
remat-plan solve --ignore-clock none.json --budget 128
