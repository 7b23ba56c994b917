# exit: 0
# How long planning took is different on every run, but never nothing.
remat-plan compare --ignore-clock data/graph/good/chain.json -b 100% -p chen-sqrt,remat --csv t.csv |
    sed -E 's/^(chen-sqrt|remat) +[0-9.]+ [mu]?s /\1 TIME /'
sed -E 's/,[0-9]+\.[0-9]{3}$/,SECONDS/' t.csv
remat-plan compare --ignore-clock data/graph/good/chain.json -b 100% -p chen-sqrt --json |
    sed -E 's/"solver_seconds":[0-9]+\.[0-9]{3}/"solver_seconds":SECONDS/'
