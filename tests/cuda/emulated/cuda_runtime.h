/* The part of CUDA that the kernels use, on a CPU. All threads of a block run one after
 * another up to the next barrier: in increasing order in one launch, in decreasing order in
 * the next, so that a missing barrier changes the result. The program ends if some threads
 * of a block reach a barrier and others do not. */
#ifndef RP_TESTS_CUDA_RUNTIME_H
#define RP_TESTS_CUDA_RUNTIME_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int cudaError_t;
typedef void *cudaStream_t;
enum {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNoKernelImageForDevice = 209
};
enum { cudaStreamNonBlocking = 1 };
enum { cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76 };
enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };

static inline const char *cudaGetErrorString(cudaError_t status) {
    return status == cudaSuccess                       ? "no error"
           : status == cudaErrorMemoryAllocation       ? "out of memory"
           : status == cudaErrorNoKernelImageForDevice ? "no kernel image"
                                                       : "an error";
}
/* The program is for sm_80. GPU_ARCH in the environment is the device's architecture (80).
 */
#define __CUDA_ARCH_LIST__ 800
static inline int gpu_arch(void) {
    const char *arch = getenv("GPU_ARCH");
    return arch != NULL ? atoi(arch) : 80;
}
static inline cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    *value =
        attribute == cudaDevAttrComputeCapabilityMajor ? gpu_arch() / 10 : gpu_arch() % 10;
    return cudaSuccess;
}
typedef int cudaFuncAttributes;
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *found, const void *fn) {
    (void)fn;
    *found = 0;
    return gpu_arch() < 80 ? cudaErrorNoKernelImageForDevice : cudaSuccess;
}
static inline cudaError_t cudaMemset(void *at, int byte, size_t n) {
    memset(at, byte, n);
    return cudaSuccess;
}
static inline cudaError_t cudaMemsetAsync(void *at, int byte, size_t n, cudaStream_t s) {
    (void)s;
    return cudaMemset(at, byte, n);
}

static inline cudaError_t cudaMalloc(void *to, size_t n) {
    *(void **)to = aligned_alloc(256, (n + 255) / 256 * 256);
    return cudaSuccess;
}
static inline cudaError_t cudaFree(void *at) {
    free(at);
    return cudaSuccess;
}

#ifdef __cplusplus
#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(threads)
#define __shared__ static

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {
    }
};
extern dim3 gridDim, blockDim, blockIdx, threadIdx;

/* Called for each kernel on the first stream as it begins, with an invented duration; may
 * be NULL. */
extern void (*on_work)(int stream, uint64_t ns, uint64_t bytes);

/* Called before the first kernel; may be NULL. If it returns false, no kernel runs, and
 * launches fail. */
extern bool (*on_first_kernel)(void);
cudaError_t cudaPeekAtLastError(void);

void __syncthreads(void);
int __syncthreads_or(int condition);

/* Calls run(closure) for each thread of each block. */
void emulate(dim3 blocks, dim3 threads, void (*run)(void *), void *closure);
template <class F> void emulate_launch(dim3 blocks, dim3 threads, F kernel) {
    emulate(
        blocks, threads, [](void *f) { (*(F *)f)(); }, &kernel);
}
#define LAUNCH_ON(kernel, blocks, threads, ...)                                            \
    emulate_launch(blocks, threads, [&] { kernel(__VA_ARGS__); })
#else
/* Functions that check_kernels.c calls. */
static inline cudaError_t cudaGetDeviceCount(int *n) {
    *n = 1;
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, int direction) {
    (void)direction;
    memcpy(to, from, n);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, int flags) {
    *s = NULL;
    (void)flags;
    return cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    (void)s;
    return cudaSuccess;
}
#endif

#endif
