#!/bin/sh
# check-cuda.sh: compiles and links the CUDA kernels where there are nvcc and cuDNN, and
# where there is a GPU too, compares each with its reference kernel.
set -u
build=${BUILD:-build}

# where WHAT: its path, or nothing.
where() {
    tools/find-cuda.sh | sed -nE "s|^$1 +(/.*)|\1|p"
}

nvcc=$(where nvcc) cudnn=$(where cudnn)
if [ -z "$nvcc" ] || [ -z "$cudnn" ]; then
    echo "cuda-kernels: skipped (nvcc and cuDNN are not here; not compiled)"
    exit 0
fi
# Variables of the make that called, such as WERROR, come along in MAKEFLAGS.
make -s -j2 BUILD="$build" NVCC="$nvcc" "$build/cuda-kernels" || exit 1
"$build/cuda-kernels"
