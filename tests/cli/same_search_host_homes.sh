# exit: 0
. data/search.sh
graph v100-16g llama-7b --tiny --optimizer adamw --state-home host
search -b 70% -t 0.3
search -b 50% -t 0.3
