# exit: 0
# The progress line names each part of a search in turn.
does() { # [OPTION...]
    TERM=xterm script -qec "remat-plan solve graph.json $* --ignore-clock" /dev/null \
        </dev/null | tr '\r' '\n' | sed -nE 's/.* (left|so far): ([^,]*),.*/\2/p' |
        grep -v narrower | uniq
    echo
}
graph() { # NETWORK [OPTION...]
    remat-plan zoo "$@" --tiny -q -o net.json
    remat-plan profile net.json --device p100-16g -q -o graph.json
}
graph vgg16
does --activation-budget 60% -t 0.05 --reorder
does --activation-budget 50% -t 0.02
graph gpt2 --optimizer adamw --state-home any
does --budget 45% -t 0.02 --reorder
does --budget 45% -t 0.02 --reorder --no-addresses
