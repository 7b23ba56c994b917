# exit: 0
. data/search.sh
graph p100-16g vgg16
search --activation-budget 80% -t 1 --no-swap
search --activation-budget 60% -t 1
