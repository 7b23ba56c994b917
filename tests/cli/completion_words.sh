# exit: 2
# What the scripts of `completion` ask for: what may stand in place of the last word.
t() {
    echo "\$ $*"
    remat-plan completion words -- "$@"
}
t so
t help compa
t zoo resnet1
t maxbatch resnet50 --device=v
t compare g.json -p chen-sqrt,v
t solve -qv --host
t solve g.json --out ''
t solve --out=g
t sweep -o ''
t solve -t ''
t profile --graph g.json -- ''
t h
t help ''
t --
t zoo --la
t zoo --q
t solve --no-swap ''
t solve -t 5 ''
t solve -- --no
t zoo -- ''
t nonsense ''
remat-plan completion fihs
remat-plan completion bash zsh
remat-plan completion words
remat-plan completion
