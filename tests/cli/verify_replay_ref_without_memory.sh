# exit: 5
# An arena of 1 EiB: the last gradient lies far above the rest. (AddressSanitizer would end
# the program, and warns of its own.)
set -o pipefail
export ASAN_OPTIONS=$ASAN_OPTIONS:allocator_may_return_null=1
sed -e 's/"run": 7, "at": \[512\]/"run": 7, "at": [1152921504606846976]/' \
    -e 's/"arena_bytes": 1792/"arena_bytes": 1152921504606847232/' \
    -e 's/"budget_bytes": 1860/"budget_bytes": 1152921504606847300/' data/plan/good/step.json >plan.json
remat-plan verify --replay ref data/graph/good/step.json plan.json 2>&1 | grep '^remat-plan'
