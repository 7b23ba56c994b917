# exit: 0
remat-plan zoo resnet50 --tiny -q -o g.json
remat-plan profile --device v100-16g -q -o p.json g.json
remat-plan solve -p libra -b 88% -q -o plan.json p.json
remat-plan verify --replay ref p.json plan.json | grep -E '^(valid|steps|kernels)'
remat-plan verify --replay ref --json p.json plan.json | grep -o '"kernels":{[^}]*}'
remat-plan verify --replay ref --steps 1 p.json plan.json | grep '^kernels'
