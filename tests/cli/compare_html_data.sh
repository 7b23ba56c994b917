# exit: 0
remat-plan compare data/graph/good/small.json --budget 100%,70% --policy keep-all,libra --html page.html >table
grep -c 'id="plan-' page.html
grep 'id="data"' page.html | sed -E 's/"solver":[0-9]+/"solver":N/g' | tr , '\n' | uniq -c
