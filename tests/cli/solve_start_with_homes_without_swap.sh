# exit: 1
# A source that the start has on the host would be copied in.
graph=data/graph/good/any_home.json
remat-plan solve --ignore-clock -t 0.1 $graph --budget 1500 -o start.json -q
grep -c swap_in start.json
remat-plan solve --ignore-clock -t 0.1 $graph --budget 1700 --no-swap --no-recompute --start start.json
