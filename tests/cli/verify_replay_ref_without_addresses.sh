# exit: 3
remat-plan zoo vgg16 --tiny -q -o g.json
remat-plan profile --device v100-16g -q -o p.json g.json
remat-plan solve -p keep-all -b 100% --no-addresses -q -o plan.json p.json
remat-plan verify --replay ref p.json plan.json
