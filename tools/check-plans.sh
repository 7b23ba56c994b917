#!/bin/bash
# check-plans.sh: every plan in plans/ is valid for its graph, NAME.plan.json for
# NAME.graph.json, and every graph there has a plan.
set -u
build=${BUILD:-build}
good=0 bad=0
for file in plans/*.json; do
    graph=${file%.*.json}.graph.json
    plan=${file%.*.json}.plan.json
    if [ "$file" = "$graph" ]; then
        [ -e "$plan" ] && continue
        says="no $plan"
    elif says=$("$build/remat-plan" verify -q "$graph" "$plan" 2>&1); then
        good=$((good + 1))
        continue
    fi
    bad=$((bad + 1))
    echo "FAILED plans: $file: $says"
done
echo "plans: $good passed, $bad failed"
[ $bad = 0 ]
