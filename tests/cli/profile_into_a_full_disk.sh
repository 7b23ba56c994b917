# exit: 5
echo '{"format":"remat-graph","version":1,"name":"g","time_source":"none","tensors":[{"name":"x","bytes":4,"kind":"input","dtype":"f32"},{"name":"y","bytes":4,"kind":"activation","dtype":"f32"}],"ops":[{"name":"f","kind":"relu","inputs":[0],"outputs":[1],"time_ns":0,"attrs":{"flops":1}}],"keep":[1]}' >g.json
remat-plan profile g.json --device v100-16g >/dev/full
