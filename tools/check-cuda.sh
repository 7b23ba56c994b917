#!/bin/sh
# check-cuda.sh kernels: compiles and links the CUDA kernels if nvcc and cuDNN are installed.
#   If there is a GPU too, it compares each kernel with its reference kernel.
# check-cuda.sh emulated: compiles the kernels with a C++ compiler and compares them on the
#   CPU, with stand-ins for cuDNN and cuBLAS.
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

mode=$1
case $mode in
kernels)
    if ! flags=$(find_cuda compile); then
        echo "cuda-kernels: skipped (${flags#error: })"
        exit 0
    fi
    make_ NVCC="$(find_cuda nvcc)" "$build/cuda-kernels"
    "$build/cuda-kernels" cuda-kernels
    ;;
emulated)
    need_cxx
    make_ "$build/cuda-emulated"
    "$build/cuda-emulated" cuda-emulated
    ;;
esac
