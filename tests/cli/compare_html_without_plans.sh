# exit: 0
# The page shows the same peak of keep-all as the table.
set -e
remat-plan compare --no-seconds data/graph/good/state.json --budget 100% --policy chen-sqrt --html page.html
grep -o '"keep_all":{"peak":[0-9]*' page.html || grep -o '"keep_all":.\{30\}' page.html
