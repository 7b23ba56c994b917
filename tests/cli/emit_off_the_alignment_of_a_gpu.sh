# exit: 3
remat-plan zoo lstm-lm --tiny -q -o g.json
remat-plan profile --device v100-16g -q -o - g.json | sed 's/"alignment_bytes":512/"alignment_bytes":128/' >p.json
remat-plan solve -p keep-all -b 100% -q -o plan.json p.json
remat-plan emit -q --target c -o here p.json plan.json || echo "not even on the CPU"
remat-plan verify -q --replay cuda p.json plan.json
remat-plan emit --target cuda -o there p.json plan.json
