# exit: 1
sed 's/"x"/"y"/' data/graph/good/small.json >other.json
remat-plan show other.json data/plan/good/small.json
