# exit: 5
remat-plan zoo lstm-lm --tiny -q -o g.json
remat-plan profile --device v100-16g -q -o p.json g.json
remat-plan solve -p keep-all -b 100% -q -o plan.json p.json
remat-plan emit --target c -o plan.json p.json plan.json
