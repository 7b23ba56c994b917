#!/bin/sh
# check-cuda.sh kernels: compiles and links the CUDA kernels if nvcc and cuDNN are installed.
#   If there is a GPU too, it compares each kernel with its reference kernel.
# check-cuda.sh emulated: compiles the kernels with a C++ compiler and compares them on the
#   CPU, with stand-ins for cuDNN and cuBLAS.
set -u
build=${BUILD:-build}

# where WHAT: prints its path, or nothing if it is not installed.
where() {
    tools/find-cuda.sh | sed -nE "s|^$1 +(/.*)|\1|p"
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
    nvcc=$(where nvcc) cudnn=$(where cudnn)
    if [ -z "$nvcc" ] || [ -z "$cudnn" ]; then
        echo "cuda-kernels: skipped (nvcc or cuDNN is not installed)"
        exit 0
    fi
    # CUDA 12 is the first with C++20 and __grid_constant__; the code calls cuDNN 9.
    cuda=$("$nvcc" --version | sed -nE 's/.*release ([0-9]+).*/\1/p')
    dnn=$(sed -nE 's/^#define CUDNN_MAJOR ([0-9]+).*/\1/p' "$(dirname "$cudnn")/cudnn_version.h")
    if [ "${cuda:-0}" -lt 12 ] || [ "${dnn:-0}" -lt 9 ]; then
        echo "cuda-kernels: skipped (CUDA $cuda and cuDNN $dnn are too old; versions 12 and 9 are needed)"
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
