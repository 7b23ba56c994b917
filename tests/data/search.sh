# For the cases same_search_*. The same input and options give the same search, step for step, so
# its counters are compared. If you change the search on purpose, accept the new figures, and
# read which parts of it have changed.
graph() { # DEVICE NETWORK [OPTION...]
    remat-plan zoo "${@:2}" -q -o net.json
    remat-plan profile net.json --device "$1" -q -o graph.json
}

search() { # [OPTION...]
    echo "== $*"
    remat-plan solve graph.json "$@" --ignore-clock --stats -o plan.json |
        sed -E '/^plan written/d; /^ +seconds /d; s/ +[0-9]+\.[0-9]{3} / - /; s/  +/ /g'
    remat-plan verify graph.json plan.json -q
    sha256sum <plan.json
}
