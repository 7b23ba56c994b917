# exit: 5
plan() { # GRAPH OUT
    remat-plan solve -p chen-sqrt -b 120% -q -o $2 $1
}
for name in chain free_order small; do
    g=data/graph/good/$name.json
    plan $g plan.json && remat-plan show $g plan.json --steps && remat-plan show $g plan.json --json --steps &&
        remat-plan show $g plan.json -q --svg -
    remat-plan show $g plan.json -q --html page.html
    grep -o '^<script type="application/json" id="plan-0".*' page.html
done
remat-plan zoo gpt2 --tiny --optimizer adamw -q -o g.json
remat-plan profile --device v100-16g -q -o p.json g.json
plan p.json plan.json && remat-plan show p.json plan.json && remat-plan show p.json plan.json -q --svg -
remat-plan solve -p vdnn-all -b 120% -q -o plan.json p.json && remat-plan show p.json plan.json &&
    remat-plan show p.json plan.json -q --svg -

echo "-- names that are long or not printable, times of 1000 ns and 1 ms, and no bound"
for unit in 1000 1000000; do
    sed 's/"time_ns": 10,/"time_ns": '$((unit / 10))',/; s/"time_ns": 20,/"time_ns": '$((unit / 5))',/
        s/"time_ns": 30,/"time_ns": '$((unit / 10 * 4))',/
        s/"name": "f"/"name": "\\u0007name of \\u00e9xactly thirty-2 letter"/
        s/"name": "g"/"name": "one more than this: of thirty-2 lettersX"/' data/graph/good/small.json >g.json
    plan g.json plan.json && remat-plan show g.json plan.json --steps
done
sed -i 's/"lower_bound_ns":[0-9]*/"lower_bound_ns":0/' plan.json
remat-plan show g.json plan.json | sed -n 1,4p
remat-plan show g.json plan.json -q --svg - | grep "<text"
echo "-- a page with the planner's seconds"
remat-plan compare data/graph/good/small.json --budget 100% --policy keep-all -q --html page.html
grep -o '"solver":' page.html
echo "-- folders that cannot be made"
touch file
remat-plan emit --target c -q -o file/inside data/verify/training.json data/verify/training_on_host.json 2>&1
remat-plan emit --target c -q -o file/inside/deeper data/verify/training.json data/verify/training_on_host.json 2>&1
