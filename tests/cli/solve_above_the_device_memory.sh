# exit: 0
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 1024 >report && echo "1024: nothing to say"
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 1025 >report
remat-plan solve --ignore-clock data/graph/good/chain.json --budget 1025 -q && echo "quiet: nothing to say"
