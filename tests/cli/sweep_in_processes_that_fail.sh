# exit: 3
# What is wrong in a process is said, and the sweep ends with its exit code.
exec 2>&1
set -- data/graph/good/chain.json -n 12 -t 0.1 --ignore-clock -o d
remat-plan sweep "$@" --share 0/1
echo '{}' >d/chain/640.plan.json
remat-plan sweep "$@" --share 0/1
echo "exit $?"
for processes in 2 3; do
    remat-plan sweep "$@" -j $processes
    echo "exit $?"
done
ls d/chain | grep -c point
# Somebody else waited for the processes.
env --ignore-signal=CHLD remat-plan sweep data/graph/good/chain.json -b 60%,70% -p libra -j 2 -o e
echo "exit $?"
# A plan that breaks a rule.
remat-plan sweep data/graph/good/chain.json -b 1216 -p keep-all -o f -q
sed -i 's/"time_ns":1080/"time_ns":1081/' f/chain/1216.plan.json
remat-plan sweep data/graph/good/chain.json -b 1216 -p keep-all -o f
