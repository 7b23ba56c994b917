# exit: 0
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 1GiB -p chen-greedy -o plan.json -g graph.json &&
    remat-plan verify graph.json plan.json
