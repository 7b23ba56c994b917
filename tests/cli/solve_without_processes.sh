# exit: 5
# Where no process can be started, the search would find another plan. With counted work that
# is an error. Else the plan and a message say so.
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
limited() { (ulimit -n 4 && exec remat-plan "$@"); }
limited solve p.json -b 70% -t 0.2 --json >out
grep -o '"capped":[a-z]*' out
rm out
limited solve --ignore-clock p.json -b 70% -t 0.2 -o plan.json --certificate proof.json
status=$?
echo *
exit $status
