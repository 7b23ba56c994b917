# exit: 0
. data/search.sh
graph p100-16g googlenet
search --activation-budget 60% -t 0.5 --reorder --no-swap
search --activation-budget 50% -t 0.5 --reorder
