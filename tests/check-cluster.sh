#!/bin/bash
# check-cluster.sh: sweeps through GNU parallel and through a real Slurm of this one machine
# give the same plans and tables as one process. Slurm's daemons run in a temporary folder
# with ports and keys of their own, and end with this script. What is not installed is
# skipped with the reason. GRAPHS, POINTS and SECONDS_EACH in the environment make the sweep
# larger, and KEEP names a file that gets its table.
set -u
export LC_ALL=C
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH:/usr/sbin:/sbin
dir=$(mktemp -d)
daemons=()
passed=0 failed=0

end() {
    if ((${#daemons[@]} > 0)); then
        kill "${daemons[@]}" 2>/dev/null
        wait "${daemons[@]}" 2>/dev/null
    fi
    rm -rf "$dir"
}
trap end EXIT
trap 'exit 1' INT TERM

have() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || {
            why="no $tool"
            return 1
        }
    done
}

verdict() { # NAME STATUS
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED cluster: $1"
    fi
}

# Says how long NAME took since $begin.
report_time() {
    echo "$1: $((SECONDS - begin)) s"
}

# Repeats a command for up to SECS seconds, until it succeeds.
await() { # SECS COMMAND...
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || return
        sleep 0.25
    done
}

# Compares all but what the clock said with the sweep of one process.
same() {
    diff -r --exclude='*.point.json' --exclude='*.log' one "$1" | head -n 20
    [ "${PIPESTATUS[0]}" = 0 ]
}

# ---- the sweep ----

cd "$dir" || exit 1
for name in ${GRAPHS:-resnet18 vgg16}; do
    remat-plan zoo "$name" -b 4 -o "$name.untimed" -q &&
        remat-plan profile "$name.untimed" --device p100-16g -o "$name.json" -q || exit 1
done
options=(*.json -n "${POINTS:-6}" -t "${SECONDS_EACH:-0.05}" --ignore-clock --no-seconds)
begin=$SECONDS
remat-plan sweep "${options[@]}" -o one -q
verdict "one process" $?
report_time "one process, $(($(wc -l <one/sweep.csv) - 1)) points"
[ -z "${KEEP-}" ] || cp one/sweep.csv "$KEEP"

if have parallel; then
    begin=$SECONDS
    for round in 1 2 3 4; do
        remat-plan sweep "${options[@]}" -o parallel --jobs >commands &&
            parallel --will-cite <commands
        verdict "parallel, round $round" $?
    done
    remat-plan sweep "${options[@]}" -o parallel --merge -q && same parallel
    verdict "parallel gives the same" $?
    report_time parallel
else
    echo "parallel is skipped: $why"
fi

# ---- Slurm ----

start_slurm() {
    local port=$((20000 + $$ % 20000))
    mkdir munge spool state && chmod 700 munge
    head -c 1024 /dev/urandom >munge/key && chmod 600 munge/key
    munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
        --pid-file="$dir/munge/pid" --seed-file="$dir/munge/seed" >munge.log 2>&1 &
    daemons+=($!)
    await 60 test -S munge/socket || return
    cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc)
PartitionName=all Nodes=ALL Default=YES
END
    export SLURM_CONF=$dir/slurm.conf
    slurmctld -D >slurmctld.log 2>&1 &
    daemons+=($!)
    slurmd -D >slurmd.log 2>&1 &
    daemons+=($!)
    await 60 sh -c 'sinfo -h -o %T | grep -q idle'
}

slurm_is_done() {
    [ -z "$(squeue -h)" ]
}

if have munged slurmctld slurmd sbatch; then
    if start_slurm; then
        begin=$SECONDS
        remat-plan sweep "${options[@]}" -o slurm --slurm >submit && sh submit >submitted
        verdict "slurm takes the sweep" $?
        await 1800 slurm_is_done
        same slurm || {
            find slurm -name '*.log' -size +0 -exec head -n 5 {} +
            false
        }
        verdict "slurm gives the same" $?
        report_time slurm
    else
        tail -n 5 munge.log slurmctld.log slurmd.log
        verdict "slurm starts" 1
    fi
else
    echo "slurm is skipped: $why"
fi

echo "cluster: $passed passed, $failed failed"
((failed == 0))
