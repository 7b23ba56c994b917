# exit: 4
# Each process would work for a minute. Only the parent gets the signal.
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
mkdir d
remat-plan sweep p.json -n 4 -t 60 --gap 0 -j 2 -o d >out 2>err &
sweep=$!
touch d/sweep.csv
while [ -e d/sweep.csv ]; do sleep 0.05; done
kill -INT $sweep
wait $sweep
status=$?
sed "s/[0-9] of/N of/" err
exit $status
