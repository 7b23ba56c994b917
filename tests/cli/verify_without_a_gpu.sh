# exit: 5
# With a GPU the command succeeds. The case then prints the expected line itself.
remat-plan zoo lstm-lm --tiny -q -o g.json
remat-plan profile --device v100-16g -q -o p.json g.json
remat-plan solve -p keep-all -b 100% -q -o plan.json p.json
if remat-plan verify --replay cuda p.json plan.json >output 2>errors &&
    grep -q "^cuda " output; then
    echo "remat-plan: verify: --replay cuda: there is no GPU" >errors
fi
sed -E 's/(--replay cuda: there is no GPU).*/\1/' errors >&2
exit 5
