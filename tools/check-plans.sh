#!/bin/bash
# check-plans.sh: every plan in plans/ is valid for its graph, NAME.plan.json or
# NAME.BUDGET.plan.json for NAME.graph.json, and every graph there has a plan.
set -u
build=${BUILD:-build}
good=0 bad=0
for file in plans/*.json; do
    name=${file%%.*}
    if [ "$file" = "$name.graph.json" ]; then
        compgen -G "$name.*plan.json" >/dev/null && continue
        says="no $name.plan.json"
    elif says=$("$build/remat-plan" verify -q "$name.graph.json" "$file" 2>&1); then
        good=$((good + 1))
        continue
    fi
    bad=$((bad + 1))
    echo "FAILED plans: $file: $says"
done
echo "plans: $good passed, $bad failed"
[ $bad = 0 ]
