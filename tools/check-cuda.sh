#!/bin/sh
# check-cuda.sh kernels: compiles and links the CUDA kernels where there are nvcc and cuDNN,
#   and where there is a GPU too, compares each with its reference kernel.
# check-cuda.sh emulated: compares them on the CPU, compiled by a C++ compiler, with
#   stand-ins for cuDNN and cuBLAS that go by their descriptors.
set -u
build=${BUILD:-build}

# where WHAT: its path, or nothing.
where() {
    tools/find-cuda.sh | sed -nE "s|^$1 +(/.*)|\1|p"
}

# Variables of the make that called, such as WERROR, come along in MAKEFLAGS.
run() {
    make -s -j2 BUILD="$build" "$@" "$build/cuda-$mode" || exit 1
    "$build/cuda-$mode" "cuda-$mode"
}

mode=$1
if [ "$mode" = emulated ]; then
    if ! command -v "${CXX:-g++}" >/dev/null; then
        echo "cuda-emulated: skipped (no C++ compiler)"
        exit 0
    fi
    run
    exit
fi
nvcc=$(where nvcc) cudnn=$(where cudnn)
if [ -z "$nvcc" ] || [ -z "$cudnn" ]; then
    echo "cuda-kernels: skipped (nvcc and cuDNN are not here; not compiled)"
    exit 0
fi
run NVCC="$nvcc"
