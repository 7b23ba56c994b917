#!/bin/bash
# check-plans.sh: every plan in plans/ and its folders must be valid for its graph, and every
# graph there must have a plan. NAME.plan.json and NAME.BUDGET.plan.json are plans for
# NAME.graph.json.
set -u
build=${BUILD:-build}
good=0 bad=0
for file in plans/*.json plans/*/*.json; do
    name=${file%%.*}
    if [ "$file" = "$name.graph.json" ]; then
        compgen -G "$name.*plan.json" >/dev/null && continue
        message="no $name.plan.json"
    elif message=$("$build/remat-plan" verify -q "$name.graph.json" "$file" 2>&1); then
        good=$((good + 1))
        continue
    fi
    bad=$((bad + 1))
    echo "FAILED plans: $file: $message"
done
echo "plans: $good passed, $bad failed"
[ $bad = 0 ]
