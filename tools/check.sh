#!/bin/bash
# check.sh: runs every part of `make check` and adds up the counts. The last line of a part
# is "NAME: N passed, N failed" or "NAME: skipped (why)". A part counts as a failure if it
# ends in another way, if it exits with an error without having counted a failure, or if it
# ran nothing. It is a failure too if nothing ran at all.
set -u
export LC_ALL=C
build=${BUILD:-build}
passed=0 failed=0

part() {
    local name=$1 last status
    shift
    "$@" </dev/null >"$build/check-$name.log" 2>&1
    status=$?
    last=$(tail -n 1 "$build/check-$name.log")
    if [[ $last =~ ^"$name: "([0-9]+)" passed, "([0-9]+)" failed"$ ]]; then
        local good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
        passed=$((passed + good))
        failed=$((failed + bad))
        if ((status != 0 || bad > 0)); then
            ((bad > 0)) || failed=$((failed + 1))
            cat "$build/check-$name.log"
            ((bad > 0)) || echo "FAILED $name: exit code $status"
        elif ((good == 0)); then
            failed=$((failed + 1))
            echo "FAILED $name: nothing ran"
        else
            echo "$last"
        fi
    elif [[ $status = 0 && $last == "$name: skipped ("*")" ]]; then
        echo "$last"
    else
        failed=$((failed + 1))
        cat "$build/check-$name.log"
        echo "FAILED $name: no count in its last line, exit code $status"
    fi
}

# Tests of HiGHS run where it is found; under CI it must be.
export REMAT_PLAN_HIGHS=${REMAT_PLAN_HIGHS:-$(tools/check-python.sh highs)}
# So are cuDNN and CUPTI, which its environment contains.
PYTHON_PACKAGES=${PYTHON_PACKAGES:-$(tools/check-python.sh packages)}
export PYTHON_PACKAGES
# The Python parts take almost as long as all others together, so they run beside them. Their
# counts come back in a file.
counts=$build/check-python.counts
rm -f "$counts"
{
    part python-plain tools/check-python.sh plain
    part python tools/check-python.sh full
    part torch-oracle tools/check-python.sh oracle
    echo "$passed $failed" >"$counts"
} &
# An interrupt reaches what runs in front, but not what runs beside it.
trap 'trap "" TERM; kill -TERM 0; exit 130' INT

part unit tools/run-unit.sh "$build/unit"
for replay in "$build"/replay_*; do
    [[ -x $replay && $replay != *.* ]] || continue
    name=${replay##*_}
    mapfile -t seeds < <(tools/seeds.sh "$name")
    part "fuzz-$name" "$replay" "${seeds[@]}"
done
part find-cuda tests/check-find-cuda.sh
part cuda-kernels tools/check-cuda.sh kernels
part cuda-registers tools/check-cuda.sh registers
part cuda-emulated tools/check-cuda.sh emulated
part cudnn-host tools/check-cuda.sh cudnn-host
part cli tools/check-cli.sh
part clock tools/check-clock.sh
part searches tools/check-searches.sh
part bad-input tools/check-bad.sh
part plans tools/check-plans.sh
part bench tools/check-bench.sh
part html tools/check-html.sh
part man tools/check-man.sh
part cluster tests/check-cluster.sh
part completion tools/check-completion.sh
part libremat tools/check-libremat.sh
part examples tools/check-examples.sh
part emit tools/check-emit.sh
part replay tools/check-replay.sh
part campaign "$build/run-campaign" --steady --seed 1 --cases 100 --folder "$build/campaign" "$build/remat-plan"
part profile tools/check-profile.sh
part measuring tests/check-measuring.sh
part cupti-host tools/check-cuda.sh cupti-host
part cupti-exit tools/check-cupti-exit.sh
part layers tools/check-layers.sh
part mutants tools/mutate.sh --known
mapfile -t sources < <(find src tests -name '*.[ch]' -o -name '*.js')
part format tools/format.sh "${sources[@]}"

wait
if { read -r beside_passed beside_failed <"$counts"; } 2>/dev/null; then
    passed=$((passed + beside_passed)) failed=$((failed + beside_failed))
else
    failed=$((failed + 1))
    echo "FAILED python: its parts did not end"
fi

((passed + failed > 0)) || failed=1
echo "$passed passed, $failed failed"
((failed == 0))
