# exit: 0
# The line of progress names the plan, and the time of all plans that are left. Each search
# starts from a plan of another batch.
term() { # COMMAND: what a terminal gets, a line for each return to the beginning of a line
    script -qec "$*" /dev/null </dev/null | sed 's/\r$//; s/\r/\n/g' | sed 's/\x1b/ESC/g' |
        grep -v '\(left\|so far\): ' # how often a search reports depends on its speed
}
export TERM=xterm
term remat-plan maxbatch lstm-lm --layers 1 --steps 2 -d p100-16g -b 700MiB -p checkmate --precision 20 -t 0.3
term remat-plan maxbatch lstm-lm --layers 1 --steps 2 -d p100-16g -b 700MiB --precision 50 --fit-only
