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
