# exit: 0
cat >g.json <<'G'
{"format":"remat-graph","version":1,"name":"g","time_source":"none","tensors":[
{"name":"x","bytes":4000000,"kind":"input","dtype":"f32"},
{"name":"y","bytes":4000000,"kind":"activation","dtype":"f32"}],"ops":[
{"name":"relu","kind":"relu","inputs":[0],"outputs":[1],"time_ns":0,"attrs":{"flops":1000000}}],"keep":[1]}
G
remat-plan profile g.json --device V100-16G --h2d 10 --d2h 2.5 -o g.prof.json
remat-plan profile g.json --device a100-40g --json -o g.prof.json
remat-plan profile - --device rtx4090 <g.json
