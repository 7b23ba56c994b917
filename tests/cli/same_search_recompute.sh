# exit: 0
. data/search.sh
graph v100-16g unet
search --activation-budget 60% -t 0.3 --no-swap
search --activation-budget 50% -t 0.3 --no-swap --no-addresses
search --activation-budget 45% -t 0.3 --no-swap --seed 3
