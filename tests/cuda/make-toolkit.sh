#!/bin/sh
# make-toolkit.sh FOLDER: makes a stand-in for a CUDA toolkit with cuDNN and cuBLAS: the
# compiler bin/nvcc, and files with the names of headers and libraries, which it ignores.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/bin" "$1/include" "$1/lib64"
printf '#!/bin/sh\nexec "%s/bin/nvcc" "$@"\n' "$here" >"$1/bin/nvcc"
chmod +x "$1/bin/nvcc"
touch "$1/include/cuda.h" "$1/include/cudnn.h" "$1/include/cublas_v2.h" \
    "$1/lib64/libcudnn.so.9" "$1/lib64/libcublas.so.13"
