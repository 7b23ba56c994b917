# exit: 0
# What people mistype, and what they read then.
t() {
    printf '$ remat-plan'
    printf ' %q' "$@"
    echo
    remat-plan "$@" 2>&1 </dev/null
    case $? in
    2 | 3 | 5) ;;
    *) echo "accepted: $?" ;;
    esac
}
remat-plan zoo lstm-lm --tiny -q -o bare.json
remat-plan profile --device v100-16g -q -o g.json bare.json
remat-plan zoo lstm-lm --tiny --batch 3 -q -o - | remat-plan profile --device h100 -q -o other.json -
remat-plan solve -p keep-all -b 100% -q -o plan.json g.json

# commands
t sovle g.json -b 50%
t Solve g.json
t max-batch resnet50
t halp
t help sovle
t version
t frobnicate
# options
t solve g.json --bugdet 2GiB
t solve g.json --budgt=2GiB
t solve g.json -budget 50%
t solve g.json -b=50%
t -q solve g.json -b 50%
t solve g.json -b 50% --noswap
t solve g.json -b 50% --time 10
t solve g.json -b 50% --quite
t zoo resnet50 --batchsize 3
t zoo resnet50 --batch_size=3
t sweep g.json --out-dir x
t solve g.json -x
# quantities
t solve g.json -b 2mb
t solve g.json -b 15Gb
t solve g.json -b '2 MiB'
t solve g.json -b 2 MiB
t solve g.json -b 50 %
t solve g.json -b 1,5GiB
t solve g.json -b '16 gigabytes'
t solve g.json -b 0.5
t solve g.json -b 4096bytes
t solve g.json -b 50% --host-budget 10%
t solve g.json -b 50% -t 10s
t solve g.json -b 50% -t 5min
t solve g.json -b 50% --gap 1%
t solve g.json -b 50% --h2d 12GB/s --d2h 12
t solve g.json -b 50% --h2d 12 --d2h 12000MB/s
t maxbatch resnet50 -d h100 -b 80%
t compare g.json -b 80%,2gb
# networks, devices, policies, types
t zoo resnet-50
t zoo ResNet50
t zoo resent50
t zoo bert
t maxbatch resnet-50 -d h100
t maxbatch resnet50 -d h100 --steps 3
t maxbatch resnet50 -d V100
t profile bare.json --device A100
t profile --device h10
t profile bare.json --device tpu
t profile bare.json --device 'Tesla V100-SXM2-16GB'
t profile bare.json --device 'NVIDIA H100 80GB HBM3'
t zoo list
t zoo resnet50 --dtype fp16
t zoo resnet50 --dtype FLOAT32
t solve g.json -b 50% -p Chen
t solve g.json -b 50% -p v-dnn
t solve g.json -b 50% -p tflms:swap-in=3
t compare g.json -p chen-sqrt,checkmat
t compare g.json -p all
t solve g.json -b 50% -p keep-all,dtr
t maxbatch resnet50,vgg16 -d h100
t solve g.json -b .5MiB
t solve g.json -b 50% --engine HiGHS
t verify g.json plan.json --replay CUDA
t emit g.json plan.json --target gpu -o program
# files
t solve resnet50 -b 50%
t solve bare.json -b 50%
t solve plan.json -b 50%
t solve other.json -b 50% --start plan.json
t show plan.json g.json
