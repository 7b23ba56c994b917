# exit: 4
remat-plan zoo resnet1001 --tiny -q -o g.json
remat-plan profile g.json --device p100-16g -q -o p.json
remat-plan solve p.json -b 100% --write-mps m.mps
status=$?
ls
exit $status
