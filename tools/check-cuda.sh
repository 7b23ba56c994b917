#!/bin/sh
# check-cuda.sh kernels: compiles and links the CUDA kernels if nvcc and cuDNN are installed.
#   If there is a GPU too, it compares each kernel with its reference kernel.
# check-cuda.sh registers: compiles the kernels for every generation of GPUs that nvcc knows.
#   Each kernel must state how many threads its blocks have, and the registers of a block
#   must not pass the 65536 that a multiprocessor has.
# check-cuda.sh emulated: compiles the kernels with a C++ compiler and compares them on the
#   CPU, with stand-ins for cuDNN and cuBLAS.
# check-cuda.sh cudnn-host: asks the real cuDNN about the kernels' calls, without a GPU.
# check-cuda.sh cupti-host: lets the real CUPTI walk the records of its stand-in, likewise.
# check-cuda.sh cupti: prints the path of a libcupti that works without a driver.
set -u
build=${BUILD:-build}

find_cuda() {
    sh src/emit/templates/cuda/find-cuda.sh "$@"
}

# MAKEFLAGS passes on the variables of the calling make, such as WERROR.
make_() {
    make -s -j2 BUILD="$build" "$@" || exit 1
}

need_cxx() {
    command -v "${CXX:-g++}" >/dev/null && return
    echo "cuda-$mode: skipped (no C++ compiler)"
    exit 0
}

# Not every version works without a driver. One that does is in the cache of the tests.
usable_cupti() {
    make_ "$build/traced/cupti_host" >/dev/null
    for library in "$(find_cuda libcupti)" "$(tools/check-python.sh cupti)"; do
        if [ -n "$library" ] && "$build/traced/cupti_host" "$library" 2>/dev/null; then
            printf '%s\n' "$library"
            return
        fi
    done
    return 1
}

mode=$1
# Sets `nvcc` and `flags`, or says why the kernels cannot be compiled, and ends.
need_cuda() {
    if ! flags=$(find_cuda compile); then
        echo "cuda-$mode: skipped (${flags#error: })"
        exit 0
    fi
    nvcc=$(find_cuda nvcc)
}

# The oldest GPU of each generation: 75 80 90 100 ..
generations() {
    "$nvcc" --list-gpu-arch | sed 's/compute_//' | sort -n | awk '
        { n = $1 % 10; g = ($1 - n) / 10 } g != last { print; last = g }'
}

# registers PTX LOG: prints a line for each kernel that cannot be launched, then the counts.
registers() {
    awk '
        /\.entry/ { split($0, word, /[ (]+/); for (i in word) if (word[i] ~ /^_Z/) name = word[i] }
        /\.maxntid/ { gsub(",", ""); threads[name] = $2 }
        /Compiling entry function/ { split($0, quoted, "\047"); name = quoted[2]; arch = quoted[4] }
        /Used [0-9]+ registers/ {
            match($0, /Used [0-9]+/)
            each = substr($0, RSTART + 5, RLENGTH - 5)
            each = each % 8 == 0 ? each : each + 8 - each % 8 # they are given out by 8
            if (name in threads && each * threads[name] <= 65536) { good++; next }
            bad++
            printf "FAILED cuda-registers: %s for %s: ", name, arch
            if (name in threads) print threads[name], "threads with", each, "registers each"
            else print "it does not state its number of threads"
        }
        END { print good + 0, bad + 0 }' "$1" "$2"
}

case $mode in
kernels)
    need_cuda
    make_ NVCC="$nvcc" "$build/cuda-kernels"
    "$build/cuda-kernels" cuda-kernels
    ;;
registers)
    need_cuda
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    good=0 bad=0
    oldest=$(generations | head -n 1)
    for source in src/kernels/cuda/cuda_*.cu; do
        "$nvcc" -std=c++20 -O3 -fmad=false -arch="compute_$oldest" -Isrc $flags --ptx \
            -o "$tmp/ptx" "$source" || exit 1
        for arch in $(generations); do
            "$(dirname "$nvcc")/ptxas" -v -arch="sm_$arch" -o "$tmp/cubin" "$tmp/ptx" \
                2>"$tmp/log" || exit 1
            counts=$(registers "$tmp/ptx" "$tmp/log")
            printf '%s\n' "$counts" | sed '$d'
            good=$((good + $(printf '%s\n' "$counts" | tail -n 1 | cut -d ' ' -f 1)))
            bad=$((bad + $(printf '%s\n' "$counts" | tail -n 1 | cut -d ' ' -f 2)))
        done
    done
    echo "cuda-registers: $good passed, $bad failed"
    [ $bad = 0 ]
    ;;
emulated)
    need_cxx
    make_ "$build/cuda-emulated"
    "$build/cuda-emulated" cuda-emulated
    ;;
cudnn-host)
    need_cxx
    if ! cudnn=$(find_cuda cudnn); then
        echo "cudnn-host: skipped (no cuDNN 9 is found)"
        exit 0
    fi
    include=$build/cudnn-host/include
    if [ "$(readlink "$include/cudnn.h")" != "$cudnn" ]; then # another version
        rm -rf "$build/cudnn-host"
        mkdir -p "$include"
        ln -s "$(dirname "$cudnn")"/cudnn*.h "$include"
    fi
    make_ CUDNN_LIB="$(find_cuda libcudnn)" "$build/cudnn-host/cudnn-host"
    "$build/cudnn-host/cudnn-host"
    ;;
cupti)
    usable_cupti
    ;;
cupti-host)
    if ! cupti=$(usable_cupti); then
        echo "cupti-host: skipped (no libcupti is found that works without a driver)"
        exit 0
    fi
    make_ "$build/traced/libcupti_fake.so"
    "$build/traced/cupti_host" "$cupti" "$build/traced/libcupti_fake.so"
    ;;
esac
