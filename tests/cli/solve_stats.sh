# exit: 0
remat-plan zoo vgg16 --tiny -q -o net.json
remat-plan profile net.json --device p100-16g -q -o timed.json
# Shows only which counters there are. Other tests check their values.
remat-plan solve timed.json --budget 98% --time-limit 0.2 --ignore-clock --no-swap --stats |
    tail -n +4 | sed -E 's/[0-9][0-9.]*%?/N/g; s/ +/ /g'
remat-plan solve timed.json --budget 98% --time-limit 0.2 --ignore-clock --stats --json |
    grep -o '"statistics":{"methods":\[{"method":"keep-all","calls":1'
