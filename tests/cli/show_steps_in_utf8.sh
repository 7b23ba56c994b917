# exit: 0
LANG=C.UTF-8 LC_ALL= remat-plan show data/graph/good/small.json data/plan/good/small.json --steps --width 60
