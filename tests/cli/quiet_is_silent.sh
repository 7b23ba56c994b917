# exit: 0
set -e
remat-plan zoo -q
remat-plan zoo vgg16 --tiny -q -o g.json
remat-plan profile --device list -q
remat-plan profile g.json --device v100-16g -q -o p.json
remat-plan profile --compare p.json p.json -q
remat-plan solve --ignore-clock p.json --budget 8GiB -q -o plan.json
remat-plan compare p.json -p keep-all -b 100% -q
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 512MiB -p keep-all --fit-only -q
printf 'id,lower,upper,size\na,0,2,5\n' >b.csv
remat-plan pack -q b.csv
remat-plan verify -q p.json plan.json
remat-plan show -q p.json plan.json
remat-plan emit -q --target c -o here p.json plan.json
