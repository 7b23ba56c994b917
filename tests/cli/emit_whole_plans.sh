# exit: 0
# The whole of plan.c: a training step with state on the host, and a step that copies and runs
# ops again, with names that C must escape.
remat-plan emit --target c -q -o here data/verify/training.json data/verify/training_on_host.json && cat here/plan.c
sed 's/"conv"/"a \\"quoted\\" name \\\\ ??= \\u00e9"/' data/profile/layers.prof.json >g.json
for policy in vdnn-all chen-sqrt; do
    remat-plan solve -p $policy -b 120% -q -o plan.json g.json &&
        remat-plan emit --target c -q -o $policy g.json plan.json && cat $policy/plan.c
done
