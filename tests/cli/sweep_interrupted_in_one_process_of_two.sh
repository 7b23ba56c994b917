# exit: 4
# Each process would work for a minute. Only the parent gets the signal. The points under way
# are not finished.
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
remat-plan sweep --ignore-clock p.json -b 60%,61% -t 60 --gap 0 -j 2 -o d >out 2>err &
sweep=$!
while [ ! -e d/p ]; do sleep 0.05; done
kill -INT $sweep
wait $sweep
status=$?
cat err
ls d/p
exit $status
