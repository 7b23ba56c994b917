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
remat-plan zoo vgg16 --json -o -
