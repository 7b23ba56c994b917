# exit: 0
# There is a plan by then. The rest of the run would take much longer.
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
mkfifo log
remat-plan compare --ignore-clock p.json -b 70% -p keep-all,remat -t 1000 -v --csv - >out 2>log &
exec 3<log
grep -q -m 1 '^remat-plan: annealing' <&3
kill -INT $!
grep -o 'compare: interrupted.*' <&3
wait $!
status=$?
cut -d, -f 1,3 out
exit $status
