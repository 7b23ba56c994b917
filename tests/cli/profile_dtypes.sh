# exit: 0
# Every type of number has a rate; one that is not known is charged by its traffic, with one warning.
cat >g.json <<'G'
{"format":"remat-graph","version":1,"name":"g","time_source":"none","tensors":[
{"name":"x","bytes":1000,"kind":"input","dtype":"float8_e4m3fn"},
{"name":"y","bytes":1000,"kind":"activation","dtype":"complex64"},
{"name":"z","bytes":1000,"kind":"activation","dtype":"posit16"},
{"name":"l","bytes":1000,"kind":"activation","dtype":"f64"}],"ops":[
{"name":"a","kind":"matmul","inputs":[0],"outputs":[1],"time_ns":0,"attrs":{"flops":1000000000000}},
{"name":"b","kind":"matmul","inputs":[1],"outputs":[2],"time_ns":0,"attrs":{"flops":1000000000000}},
{"name":"c","kind":"matmul","inputs":[2],"outputs":[3],"time_ns":0,"attrs":{"flops":1000000000000}},
{"name":"d","kind":"matmul","inputs":[2],"outputs":[],"recompute":false,"time_ns":0,"attrs":{"flops":1000000000000}}],"keep":[3]}
G
for device in a100-40g h100; do
    remat-plan profile g.json --device $device -o - | grep -o '"time_ns": *[0-9]*'
done
