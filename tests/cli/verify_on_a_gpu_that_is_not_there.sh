# exit: 5
# Where there is one, the answer is another: this case then stands in for the line.
remat-plan zoo lstm-lm --tiny -q -o g.json
remat-plan profile --device v100-16g -q -o p.json g.json
remat-plan solve -p keep-all -b 100% -q -o plan.json p.json
if remat-plan verify --replay cuda p.json plan.json >said 2>why; then
    echo "remat-plan: verify: --replay cuda: no GPU" >why
fi
sed -E 's/(--replay cuda: no GPU).*/\1/' why >&2
exit 5
