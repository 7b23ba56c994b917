# exit: 1
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
remat-plan compare --no-seconds p.json -b 90% -p vdnn-all,capuchin,remat --host-budget 10MiB --ignore-clock -t 0.1
echo
remat-plan sweep p.json -b 80%,90%,100% -p libra --host-budget 1MiB --no-seconds -o d
remat-plan sweep p.json -n 3 --host-budget 1MiB --jobs --ignore-clock -o e
# Nothing may be copied, and only copies help.
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 512MiB -p vdnn-all --host-budget 0 --fit-only
