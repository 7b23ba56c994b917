# lib.sh: helpers for the cases that trace a command. The device is simulated (tests/traced/).
traced=$(dirname "$(command -v remat-plan)")/traced
export REMAT_CUPTI=$traced/libcupti_fake.so
PATH=$traced:$PATH
graph=data/profile/three.json

# One step of the graph: a takes $1, b 20 and c 300 ns.
step() {
    echo "push rp:step push rp:a kernel $1 pop push rp:b kernel 20 pop push rp:c" \
        "kernel 200 set 100 pop sync pop"
}

# Measures the command given as the remaining arguments; prints its output and exit code.
try() {
    echo "-- $1"
    shift
    remat-plan profile --graph $graph -o out.json "$@" 2>&1 |
        sed -E "s/process [0-9]+/process N/g; s/thread [0-9]+/thread N/g; s|$traced/||g; s|$PWD/||g"
    echo "exit ${PIPESTATUS[0]}"
}

# Traces a command and prints the traces that it leaves, with process numbers as PID and
# thread numbers as TID.
traces() {
    echo "-- $1"
    shift
    rm -rf kept
    remat-plan profile -q --graph $graph -o out.json --traces kept -- "$@" 2>&1 |
        sed -E "s/process [0-9]+/process PID/g; s|$PWD/kept/[0-9]+|kept/PID|"
    for trace in kept/*.trace; do
        [ -e "$trace" ] || continue
        pid=$(basename "$trace" .trace)
        sed -E "s/^(remat-trace 1|(step|range) [0-9]+ [0-9]+|(call|over) [0-9]+) $pid\b/\1 PID/
            s/^(range [0-9]+ [0-9]+) [0-9]{3,}/\1 TID/; s/process [0-9]+/process PID/" "$trace" |
            paste -sd '\t'
    done | sort | tr '\t' '\n'
}
