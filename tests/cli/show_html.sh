# exit: 0
remat-plan show data/graph/good/small.json data/plan/good/small.json -q --html page.html
head -n 2 page.html
grep -c '<script' page.html
grep -oE '(https?|wss?)://[^"]*' page.html
