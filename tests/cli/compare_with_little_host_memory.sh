# exit: 0
# alibaba copies too much for it, within a budget that its plan fits exactly.
remat-plan compare data/graph/good/chain.json --no-seconds -b 704,800 -p alibaba,libra --host-budget 100
