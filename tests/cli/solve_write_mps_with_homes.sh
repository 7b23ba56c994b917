# exit: 3
any=data/graph/good/any_home.json
remat-plan solve $any --budget 1500 --write-mps p.mps || echo "exit code $?"
remat-plan solve $any --budget 1500 --no-swap --write-mps p.mps || echo "exit code $?"
remat-plan solve $any --budget 1700 --write-mps p.mps
remat-plan solve data/graph/good/state.json --budget 100% --write-mps q.mps
