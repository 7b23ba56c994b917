# exit: 0
. data/profile/lib.sh
sed 's/"time_ns": 0/"time_ns": 100/g; s/"time_source": "none"/"time_source": "imported:by hand"/' $graph >a.json
remat-plan profile -q --graph $graph -o b.json -- traced cuda $(step 9) $(step 110)
remat-plan profile --compare a.json b.json
remat-plan profile --compare a.json b.json --json
remat-plan solve --ignore-clock a.json --budget 4KiB -o plan.json -q
remat-plan profile --compare a.json b.json --plan plan.json | tail -n 3
remat-plan profile --compare b.json a.json --plan plan.json --json
