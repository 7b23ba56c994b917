# exit: 3
sed '0,/"mul"/s//"matmul"/' data/graph/good/small.json | remat-plan profile - --device v100-16g
