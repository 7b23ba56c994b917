# exit: 0
# They begin with the policy's own values.
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 512MiB -p tflms --fit-only --precision 20
