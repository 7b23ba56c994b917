# exit: 0
. data/profile/lib.sh
try "as one JSON object" --json -- traced cuda $(step 9) $(step 110)
try "without steps" -- traced cuda push rp:a kernel 5 pop push rp:b pop push rp:c kernel 7 pop
FAKE_CUPTI=exit=0 try "without steps, if records come only at exit" -- traced cuda push rp:a kernel 5 pop \
    push rp:b pop push rp:c kernel 7 pop
try "what is in no op's range, and ranges of no op" -- traced cuda push rp:step kernel 50 \
    push rp:block push rp:a kernel 10 push rp:a.part kernel 10 pop pop pop \
    push rp:b pop push rp:c kernel 30 pop sync pop push other pop
try "two streams" -- traced cuda push rp:step push rp:a kernel:1 100 pop push rp:b kernel:2 100 pop \
    push rp:c kernel:2 100 kernel:1 100 pop sync pop
try "names in wide characters, registered in domains; payloads" -- traced cuda \
    start rp:step pushw rp:a kernel 10 pop dpush D rp:b dwide E rp:c kernel 20 dpop D kernel 30 \
    dpop E sync stop work rp:x 4096 pop real rp:y pop
try "a captured graph" -- traced cuda push rp:a node 1 pop push rp:b node 2 pop push rp:c node 3 pop \
    clone 11 1 clone 12 2 clone 13 3 repeat 3 { push rp:step launch 11:10,12:20,13:30 sync pop }
try "threads, each with ops of its own" -- traced cuda push rp:step thread 1 { push rp:a kernel 10 pop } \
    thread 1 { push rp:b kernel 20 pop push rp:c kernel 30 pop } sync pop
try "child processes" -- traced exec { cuda $(step 9) $(step 110) } exec { cuda $(step 9) $(step 112) } \
    fork { cuda $(step 9) $(step 114) } fork { print "nothing of ours" }
try "a child that forks away does no harm" -- traced cuda fork { print child } $(step 110)
try "runs that are not used" --  traced cuda $(step 9) $(step 110) $(step 130) $(step 150) \
    push rp:step push rp:a over 131072 10 kernel 170 pop push rp:b kernel 20 pop push rp:c kernel 200 pop sync pop
FAKE_CUPTI=request try "an op that tracing delays in every step" -- traced cuda $(step 9) $(step 110) $(step 130)
FAKE_CUPTI=zero=6 try "time stamps that are missing" -- traced cuda $(step 9) $(step 110) $(step 130)
try "memory, and the workspace that an op allocates" -- traced cuda alloc 4096 1000000 pin 64 2048 \
    push rp:step push rp:a alloc 8192 3000 alloc 9000 64 free 8192 kernel 10 pop work rp:b 48 alloc 70 5 free 70 \
    kernel 20 pop push rp:c free 9000 kernel 30 pop sync pop alloc 5 5000000
grep -o '"memory":{[^}]*}' out.json
grep -oE '"name":"[abc]".*"workspace_bytes":[0-9]+' out.json | sed -E 's/,.*"w/ "w/'
try "traces that are kept" --traces kept -- traced cuda $(step 9) $(step 110)
try "read again" --traces kept
