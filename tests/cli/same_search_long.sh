# exit: 0
. data/search.sh
graph p100-16g vgg16 --tiny
search --activation-budget 70% -t 4 --no-swap
