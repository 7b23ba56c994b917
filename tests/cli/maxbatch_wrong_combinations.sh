# exit: 2
remat-plan maxbatch resnet18 -d p100-16g -p vdnn-all --no-swap
remat-plan maxbatch resnet18 -d p100-16g --h2d fast
remat-plan maxbatch resnet18 -d p100-16g,v100-16g -o plan.json
remat-plan maxbatch resnet18 vgg16 -d p100-16g -g graph.json
remat-plan maxbatch resnet18 -d p100-16g,
remat-plan maxbatch resnet18 lstm-lm --image 64 -d p100-16g
remat-plan maxbatch resnet18 -d p100-16g --csv - --json
remat-plan maxbatch resnet18 -d p100-16g --largest width
remat-plan maxbatch resnet18 -d p100-16g --largest layers
remat-plan maxbatch resnet18 -d p100-16g --batch 4
remat-plan maxbatch gpt2 -d p100-16g --largest layers --layers 4
remat-plan maxbatch gpt2 -d p100-16g --largest depth
remat-plan maxbatch resnet18 -d p100-16g --d2h fast
remat-plan maxbatch resnet18 -d p100-16g --engine steam
remat-plan maxbatch -d p100-16g
