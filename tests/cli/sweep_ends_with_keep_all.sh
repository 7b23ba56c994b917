# exit: 0
set -e
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
remat-plan sweep p.json -n 4 -t 0.2 -q -o d
grep -c swap_out d/point-03.plan.json || true
# The points of the earlier sweep are removed.
remat-plan sweep p.json -n 2 -t 0.2 -q -o d
ls d | grep -v point-00
