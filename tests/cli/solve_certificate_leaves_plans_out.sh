# exit: 4
# A search for a certificate makes nothing again after the last op: that it finds nothing proves
# nothing of plans that do.
cat >g.json <<'END'
{"format":"remat-graph","version":2,
"name":"training-7",
"time_source":"imported:random",
"device":{"alignment_bytes":1,"h2d_bytes_per_s":939425118,"d2h_bytes_per_s":3284888813,"copy_latency_ns":2},
"tensors":[
{"name":"t0","bytes":4,"kind":"parameter"},
{"name":"t1","bytes":5,"kind":"activation"},
{"name":"t2","bytes":3,"kind":"activation"},
{"name":"t3","bytes":7,"kind":"activation"},
{"name":"t4","bytes":2,"kind":"activation"},
{"name":"t5","bytes":7,"kind":"gradient"},
{"name":"t6","bytes":6,"kind":"gradient"},
{"name":"t7","bytes":3,"kind":"gradient"}],
"ops":[
{"name":"op0","kind":"any","time_ns":3,"inputs":[],"outputs":[1],"workspace_bytes":7},
{"name":"op1","kind":"any","time_ns":6,"inputs":[1],"outputs":[2],"workspace_bytes":2},
{"name":"op2","kind":"any","time_ns":5,"inputs":[2],"outputs":[3],"workspace_bytes":2},
{"name":"op3","kind":"any","time_ns":9,"inputs":[3,0],"outputs":[4],"workspace_bytes":6},
{"name":"op4","kind":"any","time_ns":4,"inputs":[4,2],"outputs":[5],"workspace_bytes":6},
{"name":"op5","kind":"any","time_ns":6,"inputs":[5,1,0],"outputs":[6],"workspace_bytes":2,"ordered":true},
{"name":"op6","kind":"any","time_ns":2,"inputs":[6,1],"outputs":[7],"workspace_bytes":5}],
"keep":[5,7]}

END
remat-plan solve g.json --budget 24 -t 0.033 --host-budget=3 --ignore-clock -q -o plan.json
remat-plan verify -q g.json plan.json && echo "without a certificate there is a plan"
remat-plan solve g.json --budget 24 -t 0.033 --host-budget=3 --ignore-clock --certificate=x
