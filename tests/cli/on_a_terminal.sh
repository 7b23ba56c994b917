# exit: 0
# On a terminal there is progress, of which nothing stays, and there are colours.
# term COMMAND: what a terminal gets; ESC for the escape character, a line for every return to
# the beginning of a line. Times are left out.
term() {
    script -qec "$*" /dev/null </dev/null | sed 's/\r$//; s/\r/\n/g' | sed 's/\x1b/ESC/g' |
        sed -E 's/(at most )?[0-9]+ s (left|so far)/N s \2/'
}
export TERM=xterm
term remat-plan compare --ignore-clock data/graph/good/chain.json -b 80% -p chen-sqrt,dtr "2>&1 >/dev/null"
term remat-plan sweep --ignore-clock data/graph/good/chain.json -n 4 -p libra -o sweep "2>&1 >/dev/null"
term remat-plan verify data/graph/good/small.json data/plan/good/small.json | head -n 1
term remat-plan solve --ignore-clock data/graph/good/chain.json -b 1
term remat-plan --help | grep :
term remat-plan sovle
NO_COLOR=1 term remat-plan sovle
TERM=dumb term remat-plan sovle
remat-plan verify data/graph/good/small.json data/plan/good/small.json | head -n 1
