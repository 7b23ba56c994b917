# exit: 0
show() { # GRAPH PLAN
    remat-plan show $1 $2 --steps
    remat-plan show $1 $2 --steps --width 40
    LANG=C.UTF-8 LC_ALL= remat-plan show $1 $2 --width 120
    remat-plan show $1 $2 --json --steps
    remat-plan show $1 $2 -q --svg -
}
show data/verify/training.json data/verify/training_on_host.json
for policy in vdnn-all chen-sqrt keep-all; do
    echo "-- $policy"
    remat-plan solve -p $policy -b 100% -q -o plan.json data/profile/layers.prof.json && show data/profile/layers.prof.json plan.json
done
