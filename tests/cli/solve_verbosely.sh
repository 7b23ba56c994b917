# exit: 0
# -v tells what each method found and proved.
remat-plan zoo vgg16 --tiny -q -o net.json
remat-plan profile net.json --device p100-16g -q -o timed.json
remat-plan solve timed.json -b 98% --no-swap -t 0.2 --ignore-clock -v -o p.json 2>&1 >/dev/null
