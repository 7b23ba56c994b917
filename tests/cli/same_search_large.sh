# exit: 0
. data/search.sh
graph v100-16g densenet121
search --activation-budget 40% -t 0.4 --no-swap
search --activation-budget 30% -t 0.4
