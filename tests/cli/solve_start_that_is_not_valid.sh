# exit: 3
sed "s/\"time_ns\": *[0-9]*/\"time_ns\": 1/" data/plan/good/chain.json >wrong.json
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 60% --start wrong.json
