# exit: 0
# What is wrong in a process is said, and the sweep ends with its exit code.
exec 2>&1
set -- data/graph/good/chain.json -b 640,700,1216 -t 0.1 --ignore-clock -o d
mkdir -p d/chain/640.plan.json
for processes in 1 2 3; do
    remat-plan sweep "$@" -j $processes
    echo "exit $?"
done
ls d/chain | grep -c point
# Whoever started it did not want to hear of processes that end.
env --ignore-signal=CHLD remat-plan sweep data/graph/good/chain.json -b 60%,70% -p libra -j 2 -q -o e
