# exit: 3
echo "Infeasible - objective value 0.00000000" >x.sol
remat-plan solve data/graph/good/small.json -b 120% --solution x.sol
