# exit: 0
. data/search.sh
graph v100-16g gpt2 --tiny --optimizer adamw --state-home any
search -b 45% -t 0.3
search -b 30% -t 0.3 --no-recompute
