# exit: 0
# The line of progress names the row, and the time of all searches that are left.
term() { # COMMAND: what a terminal gets, a line for each return to the beginning of a line
    script -qec "$*" /dev/null </dev/null | sed 's/\r$//; s/\r/\n/g' | sed 's/\x1b/ESC/g' |
        grep -v '\(left\|so far\): ' # how often a search reports depends on its speed
}
export TERM=xterm
term remat-plan compare --ignore-clock data/graph/good/chain.json --no-seconds -b 100%,200% -p chen-sqrt,checkmate,remat -t 10000
term remat-plan compare --ignore-clock data/graph/good/chain.json --no-seconds -b 100% -p remat
