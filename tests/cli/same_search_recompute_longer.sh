# exit: 0
. data/search.sh
graph p100-16g mobilenet_v2 --tiny
search --activation-budget 60% -t 1 --no-swap
