# exit: 0
# Each member of a method's row and of a move's, and a section for each part, as in the text.
remat-plan zoo vgg16 --tiny -q -o net.json
remat-plan profile net.json --device p100-16g -q -o timed.json
stats() {
    remat-plan solve timed.json --time-limit 0.2 --ignore-clock --stats --json "$@" |
        sed -E 's/.*"statistics"://; s/"seconds":[0-9]+\.[0-9]{3}\b/"seconds":N/g'
}
stats --budget 98% --no-swap
stats --budget 100%
