# exit: 0
# Printed commands call the program as it was called, also where it is not in PATH.
cp data/graph/good/chain.json g.json
mkdir "it's here"
ln -s "$(command -v remat-plan)" "it's here/remat-plan"
"it's here/remat-plan" sweep g.json -b 80% -p libra -o d --jobs | tee jobs
PATH=/usr/bin:/bin sh jobs && ls d/g | grep -c plan
