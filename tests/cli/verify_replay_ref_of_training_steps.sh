# exit: 0
g=data/verify/training.json
p=data/verify/training_on_host.json
remat-plan verify --replay ref $g $p
remat-plan verify --replay ref --steps 5 --json $g $p | grep -o '"kernels":{[^}]*}'
