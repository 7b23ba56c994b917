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
make_() {
    make -s -j2 BUILD="$build" "$@" || exit 1
}

need_cxx() {
    command -v "${CXX:-g++}" >/dev/null && return
    echo "cuda-$mode: skipped (no C++ compiler)"
    exit 0
}

mode=$1
case $mode in
kernels)
    nvcc=$(where nvcc) cudnn=$(where cudnn)
    if [ -z "$nvcc" ] || [ -z "$cudnn" ]; then
        echo "cuda-kernels: skipped (nvcc and cuDNN are not here; not compiled)"
        exit 0
    fi
    # nvcc knows C++20, and __grid_constant__, from CUDA 12 on; the calls are cuDNN 9's.
    cuda=$("$nvcc" --version | sed -nE 's/.*release ([0-9]+).*/\1/p')
    dnn=$(sed -nE 's/^#define CUDNN_MAJOR ([0-9]+).*/\1/p' "$(dirname "$cudnn")/cudnn_version.h")
    if [ "${cuda:-0}" -lt 12 ] || [ "${dnn:-0}" -lt 9 ]; then
        echo "cuda-kernels: skipped (CUDA $cuda and cuDNN $dnn are too old; 12 and 9 would do)"
        exit 0
    fi
    make_ NVCC="$nvcc" "$build/cuda-kernels"
    "$build/cuda-kernels" cuda-kernels
    ;;
emulated)
    need_cxx
    make_ "$build/cuda-emulated"
    "$build/cuda-emulated" cuda-emulated
    ;;
esac
