# exit: 2
remat-plan zoo resnet50 vgg16
remat-plan zoo vgg17
remat-plan zoo -o g.json
remat-plan zoo --batch 4
remat-plan zoo --tiny --json
remat-plan zoo vgg16 --image 7
remat-plan zoo vgg16 --image 0
remat-plan zoo vgg16 --image 64x
remat-plan zoo vgg16 --image 64x64x64
remat-plan zoo vgg16 --image 99999999999999999999
remat-plan zoo unet --image 40
remat-plan zoo unet3d --image 64x64
remat-plan zoo vgg16 --batch 0
remat-plan zoo vgg16 --batch -1
remat-plan zoo vgg16 --batch 9223372036854775807
remat-plan zoo vgg16 --batch 1000000000000
remat-plan zoo vgg16 --classes 0
remat-plan zoo vgg16 --steps 4
remat-plan zoo vgg16 --no-aux
remat-plan zoo vgg16 --dtype f64
remat-plan zoo vgg16 --dtype i32
remat-plan zoo vgg16 --json -o -
remat-plan zoo vgg16 --dtype bfloat16
remat-plan zoo vgg16 --optimizer adamww
remat-plan zoo vgg16 --state-home hots
remat-plan zoo vgg16 --param-home gpu
remat-plan zoo vgg16 --width 64
remat-plan zoo llama-7b --width 4000
remat-plan zoo llama-7b --width 3840 --kv-heads 8
remat-plan zoo vgg16 --batch 6 --micro-batches 4
remat-plan zoo vgg16 --micro-batches 0
remat-plan zoo --optimizer sgd
remat-plan zoo --micro-batches 2
remat-plan zoo gpt2 --width 9223372036854775744
