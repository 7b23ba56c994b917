# exit: 2
# Links and other names lead to the same file.
chain=data/graph/good/chain.json plan=data/plan/good/chain.json
mkdir d
cp $chain d/sweep.json
ln d/sweep.json graph.json
remat-plan sweep --ignore-clock graph.json -n 2 -t 0.1 -o d
remat-plan sweep d/sweep.json -n 2 -t 0.1 -o ./d --jobs
mkdir d/graph
mv d/sweep.json d/graph/640.plan.json
remat-plan sweep --ignore-clock graph.json -n 2 -t 0.1 -o d
remat-plan sweep graph.json -n 9 -t 0.1 -o d --merge
mkdir e
cp $chain e/plan.c
cp $plan e/Makefile
remat-plan emit e/plan.c $plan --target c -o e
remat-plan emit graph.json e/Makefile --target c -o ./e
remat-plan profile e/Makefile --program e
status=$?
cmp graph.json $chain && cmp e/plan.c $chain && cmp e/Makefile $plan && ls d/* e
exit $status
