# exit: 0
. data/profile/lib.sh
many=$(printf 'push rp:n%s ' {1..16})
traces "a child after CUDA has started" traced cuda push rp:step push rp:a fork { kernel 5 pop } pop pop
traces "a child that marks ranges after CUDA has started does not call CUPTI" traced cuda fork { push rp:b pop }
traces "a child before CUDA starts" traced dpush D rp:a start rp:step $many \
    fork { open /dev/null stop push rp:b cuda dpush E rp:c push rp:step pop pop } dpush E rp:c |
    sed -E '/^step/s/( [0-9]+){2}$/ TIME TIME/'
traces "ranges in exit handlers, after the trace has ended" traced push rp:a \
    atexit { open file errno push rp:b pop pop } cuda
wc -c <file
FAKE_CUPTI=exit=0 traces "they do not call CUPTI, which has ended too" traced atexit { push rp:b pop pop } cuda push rp:a
traces "ranges of a thread that is ending" traced levels cuda \
    thread 1 { leave { push rp:d pop } push rp:a pop leave { push rp:b push rp:c pop } }
traces "without a standard input" bash -c 'exec traced cuda push rp:a kernel 5 pop <&-'
traces "errno is the program's: no trace is begun late" traced push other files 3 push rp:a errno files 64 \
    push rp:b cuda
traces "errno is the program's: a disk that is full" bash -c 'trap "" XFSZ; ulimit -f 0; exec traced cuda push rp:a errno'
long=$(printf '%2000s' '' | tr ' ' x)
traces "errno is the program's: the disk is full later" bash -c \
    "trap '' XFSZ; ulimit -f 1; exec traced cuda push rp:@$long pop errno push rp:a pop" | cut -c -50
