# exit: 5
. data/profile/lib.sh
traces "all kinds of lines" traced cuda alloc 4096 100 push rp:step push rp:a kernel 10 pop work rp:b 48 set 5 pop \
    push rp:c node 7 copy 5 pop kernel 9 sync pop clone 8 7 pin 64 32 over 131072 3 free 4096
traces "a step that does not end" traced cuda push rp:step push rp:a kernel 10 pop
traces "a command that is killed at once" traced cuda exit 0
traces "ranges around the start of CUDA" traced push rp:a push other push rp:b cuda kernel 10 pop kernel 5 pop kernel 5
traces "a range of the process, the next step, and a node in no range" traced cuda node 5 start rp:step stop \
    dstart D rp:step dstop D node 6
traces "payloads and names in attributes" traced cuda u32 rp:a 4294967295 i32 rp:b -1 i32 rp:c 7 workw rp:d
traces "names in UTF-8 and control characters" traced cuda pushw $'rp:\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80' \
    push $'rp:\x1f \t'
FAKE_CUPTI=ask=77 traces "a CUPTI without a version" traced cuda
FAKE_CUPTI=small traces "buffers for one record" traced cuda push rp:a kernel 10 pop

# Names in wide characters are cut off at 2042 bytes, lines at 4095.
long=$(printf '%5000s' '' | tr ' ' x)
traces "long names" traced cuda pushw "rp:${long:0:2038}" pushw "rp:${long:0:2039}" pushw "rp:${long:0:2040}" \
    pushw "rp:$long" | awk '/^range/ { $8 = length($8) } { print }'
for ((n = 4050; n <= 4095; n++)); do
    echo "push rp:${long:0:n} pop"
done >pushes
traces "long lines" traced cuda $(cat pushes) >/dev/null
awk '/^range/ && length > most { most = length } END { print most }' kept/*.trace

echo "-- what each push and pop returns"
traced levels pop push a pop
many=$(printf 'push n%s ' {1..200})
remat-plan profile -q --graph $graph -o out.json -- traced levels pop push a dpush D b push c pop pop pop dpop D \
    $many pop pop dpush D b dpop E dpop D 2>&1 | paste -sd ' '
echo "-- an older NVTX knows fewer functions"
SMALL_NVTX=10 remat-plan profile -q --graph $graph -o out.json -- traced levels push a pushw b pop 2>&1
