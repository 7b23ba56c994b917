# exit: 0
# A closed terminal and a limit of processor time end the search as Ctrl-C does: the plan so
# far is kept. There is one by then. The rest of the run would take much longer.
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
mkfifo log
for signal in HUP XCPU TERM; do
    rm -f plan.json
    remat-plan solve p.json -b 70% --ignore-clock -t 1000 -v -o plan.json >out 2>log &
    exec 3<log
    grep -q -m 1 '^remat-plan: annealing' <&3
    kill -$signal $!
    cat <&3 >/dev/null
    wait $!
    echo "$signal: exit $?"
    remat-plan verify p.json plan.json | grep -o '^valid'
done
# Who ignores the terminal goes on ignoring it.
(trap '' HUP; exec remat-plan solve p.json -b 70% --ignore-clock -t 1000 -v -o plan.json >out 2>log) &
exec 3<log
grep -q -m 1 '^remat-plan: annealing' <&3
kill -HUP $!
grep -q -m 1 '^remat-plan: annealing' <&3 && echo "goes on"
kill -TERM $!
cat <&3 >/dev/null
wait $!
