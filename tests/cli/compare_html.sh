# exit: 0
remat-plan compare --no-seconds data/graph/good/small.json --budget 100% --policy keep-all,chen-sqrt --csv - --html page.html
grep -o '<title>.*</title>' page.html
grep -c 'id="plan-' page.html
