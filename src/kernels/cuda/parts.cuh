/* SPDX-License-Identifier: MIT */
/* parts: concat, split, max_unpool, and kernels of library.cu that depend on the network's
 * type. ref_bodies.h includes this after the bodies. */

/* Copies n rows of `width` elements. Rows are to_step and from_step elements apart. */
static __global__ void __launch_bounds__(each_threads)
    copy_rows(real *to, int64_t to_step, const real *from, int64_t from_step, int64_t width,
              int64_t n) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n * width;
         i += step)
        to[i / width * to_step + i % width] = from[i / width * from_step + i % width];
}

static int copy_part(struct rp_cuda *c, const struct rp_kargs *a, real *to, int64_t to_step,
                     const real *from, int64_t from_step, int64_t width) {
    LAUNCH_ON(copy_rows, each_blocks(a->outer * width), each_threads, to, to_step, from,
              from_step, width, a->outer);
    return launched(c, "copy_rows");
}

extern "C" int CUDA_FN(concat)(ENTRY) {
    const int64_t whole = a->mid * a->inner;
    int64_t start = 0;
    (void)workspace, (void)workspace_bytes;
    for (int32_t p = 0; p < a->n_in; p++) {
        const int64_t width = a->parts[p] * a->inner;
        if (copy_part(c, a, OUT(0) + start, whole, IN(p), width, width) != 0)
            return -1;
        start += width;
    }
    return 0;
}

extern "C" int CUDA_FN(split)(ENTRY) {
    const int64_t whole = a->mid * a->inner;
    int64_t start = 0;
    (void)workspace, (void)workspace_bytes;
    for (int32_t p = 0; p < a->n_out; p++) {
        const int64_t width = a->parts[p] * a->inner;
        if (copy_part(c, a, OUT(p), width, IN(0) + start, whole, width) != 0)
            return -1;
        start += width;
    }
    return 0;
}

/* (x, index) -> y. Windows do not overlap, so no two threads write the same position. */
static __global__ void __launch_bounds__(each_threads)
    unpool(const real *from, const int32_t *index, real *to, int64_t small, int64_t large,
           int64_t n) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        if (inside(index[i], large))
            to[i / small * large + index[i]] = from[i];
}

extern "C" int CUDA_FN(max_unpool)(ENTRY) {
    const int64_t small = volume(a->y_size), large = volume(a->x_size);
    const int64_t planes = a->batch * a->channels;
    (void)workspace, (void)workspace_bytes;
    const cudaError_t status =
        cudaMemsetAsync(out[0], 0, (size_t)(planes * large) * sizeof(real), c->stream);
    if (status != cudaSuccess) {
        snprintf(c->error, sizeof c->error, "max_unpool: %s", cudaGetErrorString(status));
        return -1;
    }
    LAUNCH_ON(unpool, each_blocks(planes * small), each_threads, IN(0),
              (const int32_t *)in[1], OUT(0), small, large, planes * small);
    return launched(c, "max_unpool");
}

/* Fills y, (outer, mid, inner), with y[o][i][r] = v[i]. A library then adds its result. */
static __global__ void __launch_bounds__(each_threads)
    spread_bias(const real *v, real *y, int64_t mid, int64_t inner, int64_t n) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = v[i / inner % mid];
}

extern "C" int FALLBACK_FN(bias)(struct rp_cuda *c, const void *v, void *y, int64_t mid,
                                 int64_t inner, int64_t n) {
    LAUNCH_ON(spread_bias, each_blocks(n), each_threads, (const real *)v, (real *)y, mid,
              inner, n);
    return launched(c, "bias");
}
