# exit: 0
# What a terminal gets where the report begins: the line of progress is erased first. Processes
# of a sweep show none.
term() {
    script -qec "remat-plan $*" /dev/null </dev/null | sed 's/\r$//; s/\r/\n/g; s/\x1b/ESC/g'
}
export TERM=xterm
chain=data/graph/good/chain.json
term solve $chain -b 80% -t 0.1 --ignore-clock | grep 'time '
term solve $chain -b 60% -t 0.1 --ignore-clock -p remat | grep 'policy '
term sweep $chain -n 2 -p libra -o a | grep 'keep-all needs'
term sweep $chain -b 60%,70% -t 0.1 --ignore-clock -j 2 -o b --no-seconds | grep -v 'point . of 2'
