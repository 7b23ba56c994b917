# exit: 0
. data/search.sh
graph p100-16g mobilenet_v2 --batch 32
search --activation-budget 50% -t 0.5
search --activation-budget 40% -t 0.4 --no-addresses
