# exit: 3
. data/profile/lib.sh
sed 's/"name": "b"/"name": "bb"/' $graph >named.json
sed 's/"relu"/"gelu"/' $graph >kind.json
sed 's/"name": "c"/"name": "b"/' $graph >twice.json
for other in named.json kind.json twice.json none.json; do
    remat-plan profile --compare $graph $other
done
remat-plan profile --compare data/profile/two.json $graph
remat-plan profile --compare data/graph/good/small.json data/graph/good/small.json --plan data/plan/good/chain.json
sed 's/"time_ns": *[0-9]*/"time_ns":1/' data/plan/good/chain.json >wrong.json
remat-plan profile --compare data/graph/good/chain.json data/graph/good/chain.json --plan wrong.json
remat-plan profile --plan data/plan/good/chain.json $graph
remat-plan profile --compare $graph
remat-plan profile --compare $graph $graph
