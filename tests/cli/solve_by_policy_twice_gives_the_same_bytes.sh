# exit: 0
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
for i in 1 2; do remat-plan solve p.json -b 80% --policy capuchin -o plan$i.json -q; done
cmp plan1.json plan2.json && remat-plan verify p.json plan1.json -q && echo same
