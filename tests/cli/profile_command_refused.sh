# exit: 2
. data/profile/lib.sh
all="traced cuda $(step 9) $(step 110)"
try "no CUDA" -- traced $(step 9)
try "no range" -- traced cuda kernel 5
REMAT_CUPTI=/nonexistent/libcupti.so try "no CUPTI" -- $all
FAKE_CUPTI=subscribe=39,holder="CUPTI for Nsight Systems" try "another profiler" -- $all
FAKE_CUPTI=subscribe=39 try "another profiler, unnamed" -- $all
FAKE_CUPTI=register=35 try "no permission" -- $all
FAKE_CUPTI=enable=999 try "no driver that CUPTI likes" -- $all
FAKE_CUPTI=drop=5 try "dropped records" -- $all
FAKE_CUPTI=flush=999 try "a flush that fails" -- $all
try "no work" -- traced cuda push rp:a pop push rp:b pop push rp:c pop
FAKE_CUPTI=tear try "a torn buffer" -- $all kernel 5
try "a child after fork" -- traced cuda fork { push rp:a pop } $(step 110)
try "an op that is missing" -- traced cuda push rp:a kernel 1 pop push rp:c kernel 1 pop
try "an op that is there twice" -- traced cuda push rp:step push rp:a pop push rp:a pop push rp:b pop push rp:c pop pop
try "steps in two threads" -- traced cuda push rp:step thread 1 { $(step 9) } pop
try "a range of the process" -- traced cuda start rp:a stop $(step 9)
FAKE_CUPTI=zero=1 try "no good run" -- traced cuda $(step 9)
try "a command that leaves early" -- traced cuda $(step 9) exit 0
try "a command that fails" -- traced cuda $(step 9) exit 3
try "a command that is killed" -- bash -c 'kill -9 $$'
try "a command that is not there" -- /nonexistent/train
NVTX_INJECTION64_PATH=/opt/nsys.so try "another tool" -- $all
mkdir old && touch old/17.trace
try "a folder with traces" --traces old -- $all
try "an empty trace" --traces old
rm old/17.trace
try "a folder without traces" --traces old
try "a folder that is not there" --traces none
touch file
try "a file for a folder" --traces file -- $all
try "a folder in a file" --traces file/inside -- $all
try "no command"
try "a device too" --device v100-16g -- $all
remat-plan profile --traces old $graph
