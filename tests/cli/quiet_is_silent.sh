# exit: 0
set -e
remat-plan zoo vgg16 --tiny -q -o g.json
remat-plan profile g.json --device v100-16g -q -o p.json
remat-plan solve p.json --budget 8GiB -q -o plan.json
printf 'id,lower,upper,size\na,0,2,5\n' >b.csv
remat-plan pack -q b.csv
remat-plan verify -q p.json plan.json
