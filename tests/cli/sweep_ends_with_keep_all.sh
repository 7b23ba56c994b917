# exit: 0
set -e
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
remat-plan sweep p.json -n 2 -t 0.2 --ignore-clock -q -o d
ls d/p | grep plan
grep -c swap_out d/p/244654272.plan.json || true
