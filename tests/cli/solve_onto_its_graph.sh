# exit: 0
remat-plan zoo vgg16 --tiny -q -o net.json
remat-plan profile net.json --device p100-16g -q -o timed.json
cp timed.json before.json
ln timed.json hard.json
ln -s timed.json soft.json
for out in timed.json ./timed.json hard.json soft.json; do
    remat-plan solve --ignore-clock timed.json -b 99% -t 0.1 --out $out
    echo "exit $?"
done
remat-plan solve --ignore-clock timed.json -b 99% -t 0.1 --ignore-clock -q -o plan.json
cp plan.json plan-before.json
remat-plan solve --ignore-clock timed.json -b 99% -t 0.1 --start plan.json --certificate plan.json
echo "exit $?"
remat-plan show timed.json plan.json --svg plan.json
echo "exit $?"
remat-plan compare --ignore-clock timed.json --csv hard.json
echo "exit $?"
cmp timed.json before.json && cmp plan.json plan-before.json && echo unchanged
remat-plan solve --ignore-clock timed.json -b 99% -t 0.1 --ignore-clock -q -o /dev/null --certificate /dev/null
echo "exit $?"
