# exit: 0
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
remat-plan compare --no-seconds p.json -b 90%,80% -p keep-all,chen-greedy,vdnn-all,libra --csv t.csv && cat t.csv
