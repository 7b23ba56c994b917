# exit: 0
# Sources take 64 bytes, the kept tensor 128, and keep-all has 1024 more at its peak.
budget() {
    remat-plan solve --ignore-clock data/graph/good/chain.json -t 1 --no-swap --json --activation-budget "$1" 2>warning |
        tr ',' '\n' | grep -E 'status|(fixed|kept|budget|keep_all)_bytes' | tr '\n' ' '
    echo
}
budget 62.5%
budget 640
budget 100%
budget 300%
budget 30%
