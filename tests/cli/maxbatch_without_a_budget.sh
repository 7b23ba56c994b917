# exit: 0
# All of the device's memory is the budget. Without addresses, sizes are not rounded up.
set -- lstm-lm --layers 1 --steps 2 -d p100-16g -p keep-all --fit-only --precision 50
remat-plan maxbatch "$@"
remat-plan maxbatch "$@" --json
remat-plan maxbatch "$@" --json --no-addresses
