# exit: 0
g=data/verify/training.json
p=data/verify/training_on_host.json
remat-plan emit --target c -o here $g $p | sed -E 's/[0-9.]+ KiB in/N in/'
sed -n '/homes/,/};/p' here/plan.c
grep -A 2 'fixed bytes' here/plan.c
