# exit: 0
# One line for each network and device. vgg16's parameters alone are too large.
set -- resnet18 vgg16 --image 64 -d p100-16g,v100-16g -b 400MiB -p libra --csv table.csv
remat-plan maxbatch "$@" && cat table.csv
remat-plan maxbatch "$@" --json | grep -o '"network":"[^"]*","device":"[^"]*"\|"reason":"[^"]*"\|"largest":{"batch":[0-9]*'
