#!/bin/bash
# check-profile.sh: runs `profile GRAPH` from end to end without a GPU. The driver, nvcc and
# CUDA (tests/cuda) and CUPTI (tests/traced) are stand-ins, so all figures are exact.
set -u
build=$(realpath "${BUILD:-build}")
if ! command -v "${CXX:-g++}" >/dev/null; then
    echo "profile: skipped (no C++ compiler)"
    exit 0
fi
make -s -j2 BUILD="$build" "$build/emulated/cuda.a" \
    "$build"/libcuda/{libcuda,libnvidia-ml}.so.1 || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/tmp"
touch "$tmp/log"
export TMPDIR=$tmp/tmp EMULATED=$build REMAT_CUPTI=$build/traced/libcupti_fake.so
export LD_LIBRARY_PATH=$build/libcuda CUDA_HOME=$tmp/cuda MEMORY=16777216
tests/cuda/make-toolkit.sh "$CUDA_HOME"
layers=tests/data/profile/layers.json
good=0 bad=0

verdict() { # STATUS WHAT
    if [ "$1" = 0 ]; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "FAILED profile: $2"
        cat "$tmp/log"
    fi
}

# try WHAT COMMAND...: the output of the command before is in $tmp/previous.
try() {
    local what=$1
    shift
    mv "$tmp/log" "$tmp/previous"
    "$@" >"$tmp/log" 2>&1
    verdict $? "$what"
}

# The program is built in one folder, so later builds only compile what has changed.
measure() { # GRAPH OPTIONS...
    "$build/remat-plan" profile --repeat "${STEPS-1}" --warm-up "${WARM_UP-0}" --program "$tmp/program" \
        -o "$tmp/out.json" "$@"
}

# refused WHAT CODE PATTERN COMMAND...: the command must fail with this exit code and print
# one line that matches, and leave no files.
refused() {
    local what=$1 want=$2 pattern=$3 code
    shift 3
    rm -f "$tmp/out.json"
    "$@" >"$tmp/log" 2>&1
    code=$?
    sed -i '/ASan doesn.t fully support makecontext/d' "$tmp/log" # the stand-ins use it
    [ $code = "$want" ] && [ "$(wc -l <"$tmp/log")" = 1 ] && grep -qE "$pattern" "$tmp/log" &&
        [ ! -e "$tmp/out.json" ] && [ -z "$(ls "$TMPDIR")" ]
    verdict $? "$what (exit code $code)"
}

STEPS=20 try "a graph is measured" measure $layers
cp "$tmp/program/profile" "$tmp/real"
try "its report names the median step" grep -qE '^step +[0-9.]+ us on the device, median of 20 steps' "$tmp/previous"
try "the figures are the expected ones" diff tests/data/profile/layers.prof.json "$tmp/out.json"
in_log() { # PATTERN: the report of the last measurement, which is in $tmp/log
    grep -qE "$1" "$tmp/log"
}
says() { # WHAT PATTERN: the graph that was written
    grep -qE "$2" "$tmp/out.json"
    verdict $? "$1"
}
times() {
    grep -oE '"time_ns":[0-9]+' "$tmp/out.json" | cut -d : -f 2 | tr '\n' ' '
}
# A kernel is followed by 200 ns in a CUDA graph and by 700 ns otherwise; conv has two.
measure $layers >"$tmp/log"
in_log '^gaps +200 ns after each of 5 launches .*step 19.7 us\), 700 ns one by one \(22.2 us\); in op times: graph$'
verdict $? "its report says how long gaps between kernels are"
in_log '^clocks +1980 MHz .*, memory 2619 MHz, 413 of 700 W, limited by power$'
verdict $? "its report says at which clocks it measured"
in_log '^memory +23.1 KiB held on the device in a step \(23.1 KiB when it begins\)'
verdict $? "its report says how much memory the step held"
measure --json $layers >"$tmp/log"
in_log '"time_ns":19688,"ops":4,"spread_ns":0,"step_ns":18688,"steps":1,"processes":1,"not_used":\{"no_stamp":0,"held_up":0,"lost":0\},"graph_ns":19688,"eager_ns":22188,"launches":5,"gap_ns":200,"held_but_used":0,"idle_ns":0,"outside_ns":0,"inside_ns":18688,"side_by_side_ns":0,"unknown_ranges":0,"memory":\{"begin_bytes":23616,"peak_bytes":23616,"pinned_bytes":0,"keep_all_bytes":22976\}\}$'
verdict $? "its JSON report has all of that"
try "with gaps of launches one by one" measure --gaps eager $layers
verdict "$([ "$(times)" = "12600 1708 4748 3132 " ]; echo $?)" "gaps of launches: $(times)"
try "without gaps" measure --gaps none $layers
verdict "$([ "$(times)" = "11200 1008 4048 2432 " ]; echo $?)" "no gaps: $(times)"
refused "unknown gaps" 2 "profile: --gaps: 'grap' is not none, graph or eager; did you mean 'graph'" \
    measure --gaps grap $layers
# A step takes 22.188 us of the device's time.
WARM_UP=0.0001 try "the warm-up is a time" measure $layers
says "five steps take 0.1 ms" '"warm_up_steps":5,'
# Each of the two runs has half of the limit; two steps warm up. Timed steps run twice.
STEPS=20 try "a time limit" measure --time-limit 0.0003 $layers
says "four steps of 20 fit into 0.15 ms" '"steps":4,'
refused "a step that is too long" 4 'profile: the step: it takes longer than the time limit' \
    measure --time-limit 0.0001 $layers
NVML=none try "without NVML" measure $layers
says "clocks are unknown" '"clocks":null'
! in_log '^clocks'
verdict $? "its report says nothing of clocks"
NVML=bare try "a GPU that reports no power" measure $layers
in_log '^clocks +1980 MHz .*, memory 2619 MHz$'
verdict $? "its report says nothing of power"
says "power is left out" '"clocks":\{"sm_mhz":1980,"lowest_sm_mhz":1980,"memory_mhz":2619,"limited_by":\[\]\}'
refused "a warm-up of an hour" 2 'profile: --warm-up must be at most 60$' measure --warm-up 3600 $layers
# In TF32 the stand-ins' kernels of a convolution take 2 ns for an element instead of 4: conv
# makes 2048 elements, its gradient 108.
try "with TF32" measure --gaps none --tf32 conv $layers
verdict "$([ "$(times)" = "7104 1008 4048 2216 " ]; echo $?)" "convolutions in TF32: $(times)"
says "TF32 is an attribute of both" '"tf32_ops":2,'
cp "$tmp/out.json" "$tmp/tf32.json"
try "a graph that says TF32" measure --gaps none "$tmp/tf32.json"
verdict "$([ "$(times)" = "7104 1008 4048 2216 " ]; echo $?)" "TF32 as the graph says: $(times)"
try "TF32 is forbidden" measure --gaps none --tf32 none "$tmp/tf32.json"
verdict "$([ "$(times)" = "11200 1008 4048 2432 " ]; echo $?)" "no TF32: $(times)"
# Half of the batch needs 1000064 bytes of workspace, and a sixteenth of the memory is 1 MiB.
IMAGE_WORKSPACE=1000000 try "convolutions that need much workspace" measure $layers
warns() { # PATTERN: in the output of the last measurement
    grep -qE "$1" "$tmp/log"
    verdict $? "it says: $1"
}
warns '^remat-plan: warning: 1 convolution runs by implicit_gemm: conv \(convolution: it needs 2000064 bytes of workspace, more than 1048576\)$'
warns '^remat-plan: warning: 1 convolution runs in parts of the batch: conv.grad_weight \('
warns '^slower    1 convolution by implicit_gemm, 1 convolution in parts of the batch$'
says "the graph names them" '"slower":\{"implicit_gemm":\["conv"\],"parts":\["conv.grad_weight"\]\}'
says "the workspace is that of a part" '"name":"conv.grad_weight".*"workspace_bytes":1000064,.*"algorithm":"algo_1"'
CUDNN_ELEMENTS=100 try "convolutions that cuDNN does not take" measure --json $layers
warns '^remat-plan: warning: 2 convolutions run by a slow kernel of our own: conv, conv.grad_weight \(tensor: declined\)$'
warns '"slower_convolutions":\{"implicit_gemm":0,"parts":0,"direct":2\}'
says "the graph asks for direct" '"name":"conv",.*"algorithm":"direct"'
touch "$tmp/before"

# A step that does not fit into memory is measured too, with the same times.
"$build/remat-plan" zoo vgg16 --tiny -q -o "$tmp/vgg.json"
total() {
    grep -oE '"sum_ns":[0-9]+' "$tmp/out.json"
}
try "a network is measured" measure -q "$tmp/vgg.json"
try "only its plan is compiled again" bash -c "cd '$tmp/program' &&
    [ plan.o -nt '$tmp/before' ] && [ ! main.o -nt '$tmp/before' ]"
whole=$(total)
try "it is measured as a whole step" grep -q '"whole_step":true' "$tmp/out.json"
convs=$(grep -c '"kind":"conv' "$tmp/out.json")
try "every convolution has an algorithm" \
    test "$(grep -cE '"algorithm":"(implicit_precomp_gemm|algo_1)"' "$tmp/out.json")" = "$convs"
try "every convolution has its workspace" test "$(grep -c '"workspace_bytes":64,' "$tmp/out.json")" = "$convs"
# Memory for sources, workspace and copies, and 1.8 MB for tensors. The step needs more than
# that, its largest op less.
MEMORY=$((2137600 + 4194304 + 524288 + 1800000)) try "a network is measured in less memory" \
    measure "$tmp/vgg.json"
try "the report says that values were those of other tensors" grep -q 'measured on values of other tensors' "$tmp/previous"
try "the graph says so too" grep -q '"whole_step":false' "$tmp/out.json"
try "the times are the same: $whole $(total)" test "$whole" = "$(total)"

GPU_ARCH=90 MEMORY=134217728 try "a network is measured on Hopper" measure "$tmp/vgg.json"
says "its products have the workspace that cuBLAS recommends" \
    '"kind":"matmul",.*"workspace_bytes":33554432,'

MEMORY=$((7168 + 64 + 524288 + 10000)) refused "an op that does not fit" 5 \
    '^remat-plan: profile: relu: its operands do not fit .*; profile a smaller batch$' \
    measure $layers
MEMORY=5000 refused "inputs that do not fit" 5 \
    '^remat-plan: profile: the step.s inputs and parameters: they do not fit' measure $layers
MEMORY=8000 refused "memory too small for the copies" 5 '^remat-plan: profile: conv: its operands do not fit' \
    measure $layers
REMAT_CUPTI=/nonexistent refused "no CUPTI" 5 'process [0-9]+: REMAT_CUPTI: .*/nonexistent' \
    measure $layers
FAKE_CUPTI=subscribe=39 refused "another profiler" 5 'another profiler is active' \
    measure $layers
CUDA_INJECTION64_PATH=/lib/tool.so refused "another tool" 5 'another tool is tracing' \
    measure $layers
GPUS=0 refused "no GPU" 5 'profile: there is no GPU; --device NAME models one' measure $layers
refused "a GPU number that is too large" 5 'profile: there is no GPU 1; the last is 0$' measure --gpu 1 $layers
refused "zero steps" 2 'profile: --repeat must be from 1 to 1000$' measure --repeat 0 $layers
sed 's/^"ops":\[$/"ops":[],"keep":[]}/; /"ops":\[\]/q' $layers >"$tmp/empty.json"
refused "no ops" 3 'empty.json: the graph has no ops to measure$' measure "$tmp/empty.json"
refused "no kernel" 3 'small.json: tensors\[0\] ' measure tests/data/graph/good/small.json
CAPABILITY=0 refused "a GPU without an architecture" 5 \
    'profile: the driver does not report the architecture of GPU 0$' measure $layers
CAPABILITY=70 refused "a GPU that is too old for the compiler" 5 \
    'profile: the program cannot be built: CUDA 13.0 builds for sm_75 and newer, not for sm_70; an older CUDA does$' \
    "$build/remat-plan" profile -o "$tmp/out.json" $layers
refused "no folder for temporary files" 5 '^remat-plan: /nonexistent/remat-[A-Za-z0-9]+: No such file' \
    env TMPDIR=/nonexistent "$build/remat-plan" profile -o "$tmp/out.json" $layers
NVCC=/nonexistent refused "no compiler" 5 \
    'profile: the program cannot be built: there is no CUDA compiler \(nvcc\); set NVCC or CUDA_HOME$' \
    "$build/remat-plan" profile -o "$tmp/out.json" $layers
CUDNN_HOME=/nonexistent refused "no cuDNN" 5 \
    'profile: the program cannot be built: there is no cuDNN 9 \(cudnn.h, libcudnn.so.9\) in /nonexistent; set CUDNN_HOME' \
    "$build/remat-plan" profile -o "$tmp/out.json" $layers
CXX=/nonexistent/c++ refused "a program that does not build" 5 'profile: the program cannot be built: .+' \
    "$build/remat-plan" profile -o "$tmp/out.json" $layers

refused "no make" 5 'profile: the program cannot be built: make: No such file or directory$' \
    env PATH=/nonexistent "$build/remat-plan" profile -o "$tmp/out.json" $layers
cp "$build/remat-plan" "$tmp/alone"
refused "nothing to trace with" 5 'libremat_inject' \
    env PATH=/nonexistent "$tmp/alone" profile -o "$tmp/out.json" $layers

# Programs that do something else: a stand-in for make leaves this script in their place.
mkdir "$tmp/bin"
cat >"$tmp/bin/make" <<END
#!/bin/sh
[ -z "\${MAKEFLAGS-}" ] || exit 1
{ echo '#!/bin/sh'; cat '$tmp/script'; } >profile
chmod +x profile
END
chmod +x "$tmp/bin/make"
program() { # SCRIPT: measures with it. Its arguments are MODE NOTES GPU STEPS ...
    echo "$1" >"$tmp/script"
    PATH=$tmp/bin:$PATH "$build/remat-plan" profile --repeat 1 --warm-up 0 -o "$tmp/out.json" $layers
}
real='"$REAL" "$@"'
export REAL=$tmp/real
MAKEFLAGS=n try "options of another make do not reach it" program "$real"
try "a timed program that prints" \
    program "[ \$1 = traced ] || { echo shown; echo shown >&2; }; $real"
! in_log shown
verdict $? "nothing that it prints is shown"
refused "a program that fails" 5 'profile: the profiling program failed$' program 'exit 9'
refused "a program that says why" 5 'profile: no luck$' program 'echo no luck >&2; exit 9'
refused "a program whose notes say why" 5 'profile: no room$' \
    program 'echo no luck >&2; echo no room >"$2"; exit 9'
refused "times that are missing" 6 'profile: .*/timing: unexpected output from the profiling program$' \
    program 'echo "{\"eager_ns\":1}" >"$2"'
refused "another time that is missing" 6 'profile: .*/timing: unexpected output from the profiling program$' \
    program 'echo "{\"graph_ns\":1}" >"$2"'
refused "a traced program that fails" 5 'profile: .*exit code 9' \
    program "[ \$1 = timed ] || exit 9; $real"
for notes in '' '{}' '{"algorithms":["","","",""]}' '{"algorithms":["","","",1],"versions":{}}' \
    '{"algorithms":["","",""],"versions":{}}'; do
    refused "notes that are '$notes'" 6 'profile: .*/notes: unexpected output from the profiling program$' \
        program "$real && if [ \$1 = traced ]; then echo '$notes' >\"\$2\"; fi"
done
if command -v script >/dev/null; then
    echo "$real" >"$tmp/script"
    TERM=xterm PATH=$tmp/bin:$PATH script -qec "$build/remat-plan profile --repeat 1 \
        --warm-up 0 -o $tmp/out.json $layers" /dev/null </dev/null | cat -v >"$tmp/log"
    in_log '^building the profiling program, [0-9]+ s so far\^M\^\[\[Ktiming the step without tracing, [0-9]+ s so far\^M\^\[\[K\^Mmeasuring: step 0 of 1'
    verdict $? "a terminal shows what it does"
fi

# A signal during the build must remove the temporary folder and end the compiler, but not one
# that was ignored before.
ends_with_a_signal() { # WHAT OPTION...
    local what=$1 compiler code left alive
    shift
    (
        trap '' HUP
        SLOW=1 exec "$build/remat-plan" profile -o "$tmp/out.json" "$@" $layers >"$tmp/log" 2>&1
    ) &
    for ((i = 0; i < 200; i++)); do
        compiler=$(pgrep -P "$(pgrep -d, -P $!)" 2>/dev/null | head -n 1)
        [ -z "$compiler" ] || break
        sleep 0.05
    done
    kill -HUP $!
    sleep 0.2
    kill -TERM $!
    wait $!
    code=$?
    left=$(find "$TMPDIR" -mindepth 1 ! -name 'cc??????.*') # the compiler's own
    for ((i = 0; i < 200; i++)); do # a zombie does not count as alive
        alive=$(grep -s '^State:' "/proc/$compiler/status")
        [[ $alive != *[RSD]\ * ]] && break
        sleep 0.05
    done
    [ $code = 143 ] && [ -z "$left" ] && [ -n "$compiler" ] && [[ $alive != *[RSD]\ * ]]
    verdict $? "$what (exit code $code, $left, $compiler $alive)"
}
ends_with_a_signal "a signal ends it and leaves nothing"
ends_with_a_signal "a signal ends it in a folder that is kept" --program "$tmp/kept"
[ -e "$tmp/kept/main.cu" ]
verdict $? "the folder is kept"

echo "profile: $good passed, $bad failed"
[ $bad = 0 ]
