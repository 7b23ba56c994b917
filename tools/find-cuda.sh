#!/bin/sh
# find-cuda.sh: prints which parts of CUDA are on this machine, with their paths. None of
# them is needed to build, start or test remat-plan.
set -u

# first WHAT FILE...: prints the first of these files that exists.
first() {
    what=$1
    shift
    for file; do
        if [ -e "$file" ]; then
            printf '%-10s%s\n' "$what" "$file"
            return
        fi
    done
    printf '%-10snot found\n' "$what"
}

home=${CUDA_HOME:-}
if [ -z "$home" ]; then
    nvcc=$(command -v nvcc || true)
    home=/usr/local/cuda
    if [ ! -d "$home" ] && [ -n "$nvcc" ]; then
        home=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    fi
fi
multiarch=/usr/lib/$(uname -m)-linux-gnu
first cuda "$home/include/cuda.h" /usr/include/cuda.h
first nvcc "$home/bin/nvcc" /usr/bin/nvcc
first cupti "$home/include/cupti.h" "$home/extras/CUPTI/include/cupti.h" /usr/include/cupti.h
first cudnn "$home/include/cudnn.h" /usr/include/cudnn.h "/usr/include/$(uname -m)-linux-gnu/cudnn.h"
first driver "$multiarch/libcuda.so.1" /usr/lib64/libcuda.so.1 /usr/lib/libcuda.so.1
