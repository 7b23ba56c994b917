# exit: 2
g=data/verify/net.json
p=data/verify/swap.json
remat-plan verify $g $p --steps 2
remat-plan verify $g $p --replay hash --steps 2
remat-plan verify $g $p --replay ref --steps 0
remat-plan verify $g $p --replay ref --steps 1000001
remat-plan verify $g $p --replay ref --steps many
