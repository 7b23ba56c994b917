#!/bin/bash
# check-find-cuda.sh: programs are built with CUDA, cuDNN and CUPTI as users have them: in a
# toolkit, in conda's environment, as packages of pip, or in folders of their own. The
# compiler, the libraries and nvidia-smi are stand-ins. If nvcc and a package of cuDNN are
# here, a program is linked with them too.
set -u
build=$(realpath "${BUILD:-build}")
find=$PWD/src/emit/templates/cuda/find-cuda.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
good=0 bad=0
real=${PYTHON_PACKAGES:-} compiler=$(sh "$find" nvcc)
unset NVCC CUDA_HOME CUDNN_HOME CUPTI_HOME VIRTUAL_ENV CONDA_PREFIX PYTHON_PACKAGES
export HOME=$tmp/home

verdict() { # STATUS WHAT
    if [ "$1" = 0 ]; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "FAILED find-cuda: $2"
        cat "$tmp/log" 2>/dev/null
    fi
}

# gives WHAT WANTED COMMAND...: the command must print exactly this on standard output.
gives() {
    local what=$1 wanted=$2
    shift 2
    "$@" >"$tmp/out" 2>"$tmp/err"
    { cat "$tmp/out" "$tmp/err"; } >"$tmp/log"
    [ "$(cat "$tmp/out")" = "$wanted" ]
    verdict $? "$what"
}

# files FOLDER FILE...: makes empty files.
files() {
    local folder=$1 file
    shift
    for file; do
        mkdir -p "$(dirname "$folder/$file")"
        touch "$folder/$file"
    done
}
found() {
    sh "$find" "$@"
}

# ---- where the libraries are ----

tests/cuda/make-toolkit.sh "$tmp/whole"
tests/cuda/make-toolkit.sh "$tmp/toolkit"
rm "$tmp"/toolkit/include/cudnn.h "$tmp"/toolkit/lib64/libcudnn*
export CUDA_HOME=$tmp/whole
# The stand-in for nvcc that NVCC names is a link, as /usr/local/cuda/bin/nvcc often is.
ln -s "$tmp/toolkit/bin/nvcc" "$tmp/nvcc"

gives "nvcc of CUDA_HOME" "$tmp/whole/bin/nvcc" found nvcc
gives "cuDNN of the toolkit" "$tmp/whole/lib64/libcudnn.so.9" found libcudnn
gives "NVCC goes before CUDA_HOME" "$tmp/nvcc" env NVCC="$tmp/nvcc" sh "$find" nvcc
gives "nvcc of the path" "$tmp/toolkit/bin/nvcc" \
    env -u CUDA_HOME PATH="$tmp/toolkit/bin:$PATH" sh "$find" nvcc
export CUDA_HOME=$tmp/toolkit
cudnn="cudnn/include/cudnn.h cudnn/lib/libcudnn.so.9"
site=lib/python3.11/site-packages/nvidia
for root in venv home/.local conda python; do
    files "$tmp/$root/$site" $cudnn cu13/include/cupti.h cu13/lib/libcupti.so.13
done
pip() { # ROOT
    echo "$tmp/$1/$site/cudnn/lib/libcudnn.so.9"
}
gives "a package of the user's" "$(pip home/.local)" found libcudnn
files "$tmp/python/bin" python3
chmod +x "$tmp/python/bin/python3"
gives "a package of the python3 in the path" "$(pip python)" \
    env PATH="$tmp/python/bin:$PATH" sh "$find" libcudnn
gives "a package in conda's environment" "$(pip conda)" env CONDA_PREFIX="$tmp/conda" sh "$find" libcudnn
files "$tmp/conda" include/cudnn.h lib/libcudnn.so lib/libcudnn.so.9
gives "conda's own cuDNN" "$tmp/conda/lib/libcudnn.so.9" \
    env CONDA_PREFIX="$tmp/conda" VIRTUAL_ENV="$tmp/venv" sh "$find" libcudnn
export VIRTUAL_ENV=$tmp/venv
gives "a package of the virtual environment" "$(pip venv)" found libcudnn
gives "its header" "$tmp/venv/$site/cudnn/include/cudnn.h" found cudnn
gives "CUPTI of CUDA 13" "$tmp/venv/$site/cu13/lib/libcupti.so.13" found libcupti
rm -r "$tmp/venv/$site/cu13"
files "$tmp/venv/$site/cuda_cupti" include/cupti.h lib/libcupti.so.12
gives "CUPTI of CUDA 12" "$tmp/venv/$site/cuda_cupti/lib/libcupti.so.12" found libcupti
files "$tmp/toolkit/extras/CUPTI" include/cupti.h lib64/libcupti.so.13
gives "CUPTI in the toolkit's extras" "$tmp/toolkit/extras/CUPTI/lib64/libcupti.so.13" found libcupti
files "$tmp/own" include/cupti.h include/cudnn.h lib/libcupti.so.11.8 lib/libcudnn.so.9
gives "CUPTI_HOME" "$tmp/own/lib/libcupti.so.11.8" env CUPTI_HOME="$tmp/own" sh "$find" libcupti
gives "CUDNN_HOME" "$tmp/own/lib/libcudnn.so.9" env CUDNN_HOME="$tmp/own" sh "$find" libcudnn
gives "CUDNN_HOME without it allows no other place" \
    "error: there is no cuDNN 9 (cudnn.h, libcudnn.so.9) in $tmp/none; set CUDNN_HOME, or install nvidia-cudnn-cu13 with pip" \
    env CUDNN_HOME="$tmp/none" sh "$find" link
files "$tmp/own" lib64/libcudnn.so.8
rm "$tmp/own/lib/libcudnn.so.9"
gives "cuDNN 8 is not cuDNN 9" "" env CUDNN_HOME="$tmp/own" sh "$find" libcudnn
mv "$tmp/toolkit/lib64/libcublas.so.13" "$tmp/toolkit/lib64/libcublas.so.12"
files "$tmp/venv/$site/cu13" include/cublas_v2.h lib/libcublas.so.13
gives "cuBLAS has the compiler's major version" "$tmp/venv/$site/cu13/lib/libcublas.so.13" found libcublas
gives "flags that compile" \
    "-isystem $tmp/toolkit/include -isystem $tmp/venv/$site/cudnn/include -isystem $tmp/venv/$site/cu13/include " \
    found compile
link="-L$tmp/toolkit/lib64"
for part in cudnn/lib:libcudnn.so.9 cu13/lib:libcublas.so.13; do
    folder=$tmp/venv/$site/${part%:*}
    link="$link -L$folder -l:${part#*:} -Xlinker -rpath=$folder"
done
gives "flags that link, with the places at run time" "$link " found link
gives "a compiler that is not there" "error: there is no CUDA compiler (nvcc); set NVCC or CUDA_HOME" \
    env NVCC="$tmp/none" sh "$find" compile

# ---- which GPU, which architecture ----

export PATH=$tmp/bin:$PATH
# smi STATUS TEXT: nvidia-smi will print this and exit so.
smi() {
    mkdir -p "$tmp/bin"
    printf '#!/bin/sh\nprintf "%%b\\n" "%s"\nexit %s\n' "$2" "$1" >"$tmp/bin/nvidia-smi"
    chmod +x "$tmp/bin/nvidia-smi"
}
broken="NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\nMake sure that it is running."
smi 9 "$broken"
gives "nvidia-smi fails" "error: nvidia-smi fails (exit code 9): ${broken%%\\n*}" found gpu
gives "its text is no architecture" sm_80 found arch
smi 0 "WARNING: infoROM is corrupted at gpu 0000:3B:00.0\n9.0, NVIDIA H100 80GB HBM3\n8.0, NVIDIA A100"
gives "nvidia-smi says more than was asked" "9.0, NVIDIA H100 80GB HBM3" found gpu
gives "the GPU's architecture" sm_90 found arch
smi 0 "No devices were found"
gives "nvidia-smi finds no GPU" "error: nvidia-smi names no GPU: No devices were found" found gpu
gives "another architecture" sm_75 found arch sm_75
gives "one with features of its own" sm_90a found arch sm_90a
gives "one that the compiler does not know yet" sm_103 found arch sm_130
grep -qx 'CUDA 13.0 does not know sm_130: this builds for sm_103, and the driver translates its PTX' "$tmp/err"
verdict $? "it says so"
gives "one between those that it knows" sm_90 found arch sm_95
old="CUDA 13.0 builds for sm_75 and newer, not for sm_70; an older CUDA does"
gives "one that the compiler has given up" "error: $old" found arch sm_70

# ---- emitted programs ----

"$build/remat-plan" solve --ignore-clock -q -b 100% -o "$tmp/plan.json" tests/data/profile/layers.prof.json &&
    "$build/remat-plan" emit -q --target cuda -o "$tmp/program" tests/data/profile/layers.prof.json "$tmp/plan.json"
verdict $? "a program is emitted"
# build VARIABLE=VALUE...: what make would run.
build() {
    make -n -C "$tmp/program" --no-print-directory MAKEFLAGS= "$@" >"$tmp/log" 2>&1
}
smi 0 "10.0, NVIDIA B200"
build && grep -qF -- "-o replay plan.o main.o kernels.a ${link% }" "$tmp/log" &&
    grep -qF -- "-arch=sm_100 -I. -isystem $tmp/toolkit/include" "$tmp/log"
verdict $? "a program is built with what is found"
build LIBS=-lmine INCLUDES=-Imine NVCCFLAGS=-lineinfo ARCH=sm_90 &&
    grep -qx -- ".*/nvcc -arch=sm_90 -lineinfo -o replay plan.o main.o kernels.a -lmine" "$tmp/log" &&
    grep -q -- "-arch=sm_90 -I. -Imine -lineinfo -c -o main.o" "$tmp/log"
verdict $? "flags can be given"
build CUDNN_HOME="$tmp/whole" LIBS= && grep -qF -- "-isystem $tmp/whole/include" "$tmp/log"
verdict $? "so can CUDNN_HOME"
smi 0 "7.0, Tesla V100"
! build main.o && [ "$(wc -l <"$tmp/log")" = 1 ] && grep -q "\*\*\* $old\.  Stop\.$" "$tmp/log"
verdict $? "a GPU that is too old is one line"
make -s -C "$tmp/program" MAKEFLAGS= clean >"$tmp/log" 2>&1
verdict $? "make clean needs no GPU"

# ---- the real compiler and a real package ----

package=$real/nvidia/cudnn
if [ -n "$real" ] && [ -e "$package/lib/libcudnn.so.9" ] && [ -n "$compiler" ]; then
    unset CUDA_HOME VIRTUAL_ENV
    export NVCC=$compiler CUDNN_HOME=$package
    printf '#include <cudnn.h>\nint main(void) { return cudnnGetVersion() < 90000; }\n' >"$tmp/version.c"
    { "$NVCC" $(found compile) -o "$tmp/version" "$tmp/version.c" $(found link) &&
        env -u LD_LIBRARY_PATH "$tmp/version" && ldd "$tmp/version" | grep -F "$package/lib/"; } >"$tmp/log" 2>&1
    verdict $? "a program is linked with a package of cuDNN and starts"
fi

echo "find-cuda: $good passed, $bad failed"
[ $bad = 0 ]
