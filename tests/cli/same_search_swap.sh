# exit: 0
. data/search.sh
graph v100-16g unet
search --activation-budget 50% -t 0.3 --no-recompute
search --activation-budget 60% -t 0.3 --no-recompute --host-budget 6GiB
