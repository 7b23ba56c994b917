# exit: 0
# What the processes would write to ends with the last of them. Each would work for hours.
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
{
    remat-plan sweep --ignore-clock p.json -b 60%,61% -t 100000 --gap 0 -j 2 -q -o d &
    sweep=$!
    until [ "$(ps --ppid $sweep -o pid= | wc -l)" = 2 ]; do sleep 0.05; done
    kill -KILL $sweep
    wait $sweep
    echo "exit $?"
} 2>/dev/null | timeout 60 cat
echo "the reader: exit ${PIPESTATUS[1]}"
ls d/p
