# exit: 0
remat-plan zoo resnet50 --batch 256
remat-plan zoo resnet18 --tiny -o g.json
remat-plan zoo resnet18 --tiny -o - | cmp - g.json
remat-plan zoo unet --tiny --image 32x48 --dtype f16 --json -o g.json
sha256sum g.json
remat-plan zoo unet3d --image 16x16x24 --classes 4 --json
