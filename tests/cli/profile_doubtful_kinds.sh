# exit: 0
# Kinds that compute much and are no known product are named once, as are products of integers.
tensor() { printf '{"name":"%s","bytes":4000,"kind":"%s","dtype":"%s"}' "$1" "$2" "$3"; }
op() { printf '{"name":"%s","kind":"%s","inputs":[%s],"outputs":[%s],"time_ns":0,"attrs":{"flops":%s}}' "$@"; }
{
    printf '{"format":"remat-graph","version":1,"name":"g","time_source":"none","tensors":['
    tensor x input f32; printf ,; tensor a activation f32; printf ,
    tensor b activation f32; printf ,; tensor c activation f32; printf ,
    tensor i input i8; printf ,; tensor j activation i8
    printf '],"ops":['
    op one Mystery 0 1 100000000; printf ,; op two Mystery 1 2 100000000; printf ,
    op three Conv 2 3 100000000; printf ,; op four QLinearMatMul 4 5 100000000
    printf '],"keep":[3,5]}\n'
} >graph.json
remat-plan profile graph.json --device v100-16g -o timed.json
