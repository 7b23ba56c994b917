#!/bin/sh
# SPDX-License-Identifier: MIT
# find-cuda.sh: which parts of CUDA are on this machine.
#   find-cuda.sh            all of them, a line each
#   find-cuda.sh WHAT       the path of one: nvcc, cuda, cudnn, libcudnn, cublas, libcublas,
#                           cupti, libcupti or driver; exit code 1 if there is none
#   find-cuda.sh gpu        "9.0, NVIDIA H100": the first GPU's capability and name
#   find-cuda.sh compile    flags of nvcc and gcc: where the headers are
#   find-cuda.sh link       flags of nvcc and gcc: cuDNN and cuBLAS, found at run time too
#   find-cuda.sh arch [A]   nvcc's -arch for a GPU of architecture A, such as sm_90; without
#                           A for the first GPU, and for sm_80 if there is none
# The last four print "error: WHY" and exit with 1 if that is not possible.
#
# $NVCC names the compiler, $CUDA_HOME, $CUDNN_HOME and $CUPTI_HOME are the folders of the
# toolkit and of the libraries. Without them, libraries are searched in the toolkit, in
# $CONDA_PREFIX, among Python's packages (of $VIRTUAL_ENV, of $CONDA_PREFIX, of the python3
# in the path, the user's, the system's, and in the folder $PYTHON_PACKAGES), and in the
# system.
set -u
machine=$(uname -m)-linux-gnu

fail() {
    echo "error: $*"
    exit 1
}

# first FILE...: prints the first that exists.
first() {
    for file; do
        if [ -e "$file" ]; then
            printf '%s\n' "$file"
            return
        fi
    done
    return 1
}

# packages PATTERN...: prints what is nvidia/PATTERN among Python's packages.
packages() {
    python=$(command -v python3)
    for site in "${VIRTUAL_ENV:-}"/lib/python3*/site-packages \
        "${CONDA_PREFIX:-}"/lib/python3*/site-packages \
        "${python%/bin/python3}"/lib/python3*/*-packages \
        "${HOME:-}"/.local/lib/python3*/site-packages \
        /usr/local/lib/python3*/*-packages /usr/lib/python3*/*-packages \
        "${PYTHON_PACKAGES:-}"; do
        for pattern; do
            for path in "$site"/nvidia/$pattern; do
                [ ! -e "$path" ] || printf '%s\n' "$path"
            done
        done
    done
}

compiler() {
    if [ -n "${NVCC:-}" ]; then
        command -v "$NVCC"
    elif [ -x "${CUDA_HOME:-}/bin/nvcc" ]; then
        echo "$CUDA_HOME/bin/nvcc"
    else
        command -v nvcc || first /usr/local/cuda/bin/nvcc ||
            packages 'cu1[3-9]/bin/nvcc' | grep -m 1 .
    fi
}

toolkit() {
    if nvcc=$(compiler); then
        dirname "$(dirname "$(readlink -f "$nvcc")")"
    else
        first "${CUDA_HOME:-/usr/local/cuda}"
    fi
}

# release: the compiler's version, such as 13.0.
release() {
    "$(compiler)" --version | sed -nE 's/.*release ([0-9]+\.[0-9]+).*/\1/p'
}

# search HEADER LIBRARY: reads folders, prints both files of the first that has both.
search() {
    while IFS= read -r folder; do
        if header=$(first "$folder/include/$1" "$folder/include/$machine/$1" \
            "$folder"/targets/*/include/"$1") &&
            library=$(first "$folder"/lib64/$2 "$folder"/lib/$2 "$folder/lib/$machine"/$2 \
                "$folder"/targets/*/lib/$2); then
            printf '%s\n%s\n' "$header" "$library"
            return
        fi
    done
}

# both HOME PATTERNS HEADER LIBRARY: the two files in HOME, or, if that is empty, in one of
# the usual places, with Python's packages nvidia/PATTERNS.
both() {
    {
        if [ -n "$1" ]; then
            printf '%s\n' "$1" "$1/extras/CUPTI"
        else
            home=$(toolkit) && printf '%s\n' "$home" "$home/extras/CUPTI"
            printf '%s\n' "${CONDA_PREFIX:-}"
            packages $2
            printf '%s\n' /usr/local /usr
        fi
    } | search "$3" "$4"
}

# library NAME: the header and the library of cudnn, cublas or cupti. That of cuBLAS has the
# compiler's major version.
library() {
    case $1 in
    cudnn) both "${CUDNN_HOME:-}" cudnn cudnn.h libcudnn.so.9 ;;
    cupti) both "${CUPTI_HOME:-}" 'cu1[3-9] cuda_cupti' cupti.h 'libcupti.so.1[1-9]*' ;;
    cublas)
        major=$(release 2>/dev/null)
        both "" 'cu1[3-9] cublas' cublas_v2.h "libcublas.so.${major%%.*}"
        ;;
    esac
}

# where WHAT: prints its path, or nothing.
where() {
    case $1 in
    nvcc) compiler ;;
    cuda) first "$(toolkit)/include/cuda.h" /usr/include/cuda.h ;;
    driver) first "/usr/lib/$machine/libcuda.so.1" /usr/lib64/libcuda.so.1 /usr/lib/libcuda.so.1 ;;
    lib*) library "${1#lib}" | sed -n 2p ;;
    *) library "$1" | sed -n 1p ;;
    esac
}

# need: fails unless programs can be built.
need() {
    nvcc=$(compiler) || fail "there is no CUDA compiler (nvcc); set NVCC or CUDA_HOME"
    version=$(release)
    [ "${version%%.*}" -ge 12 ] 2>/dev/null ||
        fail "$nvcc is of CUDA ${version:-?}; CUDA 12 or newer is needed"
    cudnn=$(where libcudnn)
    place=${CUDNN_HOME:+" in $CUDNN_HOME"}
    [ -n "$cudnn" ] || fail "there is no cuDNN 9 (cudnn.h, libcudnn.so.9)$place; set" \
        "CUDNN_HOME, or install nvidia-cudnn-cu${version%%.*} with pip"
    cublas=$(where libcublas)
    [ -n "$cublas" ] || fail "there is no cuBLAS of CUDA $version (cublas_v2.h," \
        "libcublas.so.${version%%.*}); install it, or nvidia-cublas with pip"
}

compile() {
    need
    for header in "$(toolkit)/include/cuda.h" "$(where cudnn)" "$(where cublas)"; do
        dirname "$header"
    done | awk '$0 !~ "^/usr/include" && !seen[$0]++ { printf "-isystem %s ", $0 }'
}

link() {
    need
    for folder in lib64 lib; do
        [ ! -d "$(toolkit)/$folder" ] || printf -- '-L%s ' "$(toolkit)/$folder"
    done
    for file in "$cudnn" "$cublas"; do
        folder=$(dirname "$file")
        printf -- '-L%s -l:%s ' "$folder" "$(basename "$file")"
        case $folder in
        /usr/lib*) ;;
        *) printf -- '-Xlinker -rpath=%s ' "$folder" ;;
        esac
    done
}

gpu() {
    answer=$(timeout 30 nvidia-smi --query-gpu=compute_cap,name --format=csv,noheader 2>&1)
    code=$?
    [ $code != 127 ] || fail "there is no nvidia-smi"
    [ $code = 0 ] || fail "nvidia-smi fails (exit code $code): $(printf '%s\n' "$answer" | head -n 1)"
    printf '%s\n' "$answer" | grep -m 1 -E '^[0-9]+\.[0-9]+, .' ||
        fail "nvidia-smi names no GPU: $(printf '%s\n' "$answer" | head -n 1)"
}

# The newest architecture that the compiler knows up to the wanted one. Programs contain its
# PTX too, which the driver of a newer GPU translates.
arch() {
    need
    wanted=${1:-$(gpu | sed -nE 's/^([0-9]+)\.([0-9]+), .*/sm_\1\2/p')}
    number=${wanted#sm_} best=
    if [ -z "$wanted" ]; then
        echo "no GPU is found, so this builds for sm_80 and newer; ARCH=sm_90 is for another" >&2
        number=80
    fi
    case $number in
    *[!0-9]*) echo "$wanted" && return ;; # sm_90a, native
    esac
    known=$("$nvcc" --list-gpu-arch | sed -nE 's/^compute_([0-9]+)$/\1/p' | sort -n)
    for k in $known; do
        [ "$k" -gt "$number" ] || best=$k
    done
    [ -n "$best" ] || fail "CUDA $version builds for sm_${known%%[!0-9]*} and newer, not for" \
        "sm_$number; an older CUDA does"
    [ "$best" = "$number" ] || echo "CUDA $version does not know sm_$number: this builds for" \
        "sm_$best, and the driver translates its PTX" >&2
    echo "sm_$best"
}

case ${1:-} in
'')
    for what in nvcc cuda cudnn libcudnn cublas libcublas cupti libcupti driver; do
        path=$(where $what)
        printf '%-10s%s\n' $what "${path:-not found}"
    done
    ;;
compile | link | arch | gpu) "$@" ;;
*) where "$1" | grep . ;;
esac
