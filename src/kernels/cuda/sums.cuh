/* SPDX-License-Identifier: MIT */
/* sums: kernels with sums over many elements. A block computes one sum, or 32 neighbouring
 * sums if their elements are neighbours in memory. Each thread adds every 256th element
 * (every 32nd row) in order, and a tree adds the threads' sums. There are no atomics, and
 * nothing depends on how blocks are scheduled, so equal inputs give equal bits.
 *
 * ref_bodies.h includes this after the bodies.
 */

#ifndef RP_THREADS
#define RP_THREADS 256
#define RP_TILE 32
#endif
enum { THREADS = RP_THREADS, TILE = RP_TILE, TILE_THREADS = TILE * TILE };

#define LAUNCH(kernel, blocks, threads)                                                    \
    LAUNCH_ON(kernel, (unsigned)(blocks), threads, *a, operands_of(a, in, out))
/* Kernels for blocks of THREADS threads, and of TILE x TILE. A block of 1024 threads runs
 * only if the compiler, which is told so, gives each at most 64 registers. */
#define GLOBAL_OF(name, threads)                                                           \
    static __global__ void __launch_bounds__(threads)                                      \
        name(const __grid_constant__ struct rp_kargs a,                                    \
             const __grid_constant__ struct operands x)
#define GLOBAL(name) GLOBAL_OF(name, THREADS)
#define GLOBAL_TILE(name) GLOBAL_OF(name, TILE_THREADS)
#define SOURCE(type, k) ((const type *)x.in[k])
#define TARGET(type, k) ((type *)x.out[k])
/* Divides a loop among the block's threads. */
#define SHARE(i, n) for (int64_t i = threadIdx.x; i < (n); i += THREADS)

/* Both return the sum, or the maximum, over the block's threads to every thread. */
static __device__ acc block_sum(acc value) {
    __shared__ acc part[THREADS];
    part[threadIdx.x] = value;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    const acc sum = part[0];
    __syncthreads();
    return sum;
}

static __device__ acc block_max(acc value) {
    __shared__ acc part[THREADS];
    part[threadIdx.x] = value;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    }
    __syncthreads();
    const acc top = part[0];
    __syncthreads();
    return top;
}

/* The sums of a tile's columns, for blocks of TILE x TILE threads: thread (x, y) adds a
 * value to column x. The result is valid in row 0 of the block. */
static __device__ acc column_sum(acc value) {
    __shared__ acc part[TILE][TILE + 1];
    part[threadIdx.y][threadIdx.x] = value;
    for (unsigned half = TILE / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.y < half)
            part[threadIdx.y][threadIdx.x] += part[threadIdx.y + half][threadIdx.x];
    }
    __syncthreads();
    const acc sum = part[0][threadIdx.x];
    __syncthreads();
    return sum;
}

#define TILES(n) (((n) + TILE - 1) / TILE)
static inline dim3 tile() {
    return dim3(TILE, TILE);
}

/* ---- bias_grad: (outer, mid, inner) ---- */

GLOBAL(bias_planes) {
    acc sum = 0;
    SHARE(j, a.outer * a.inner)
    sum += get(SOURCE(real, 0)[(j / a.inner * a.mid + blockIdx.x) * a.inner + j % a.inner]);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        TARGET(real, 0)[blockIdx.x] = put(sum);
}

GLOBAL_TILE(bias_columns) {
    const int64_t col = (int64_t)blockIdx.x * TILE + threadIdx.x;
    acc sum = 0;
    if (col < a.mid)
        for (int64_t row = threadIdx.y; row < a.outer; row += TILE)
            sum += get(SOURCE(real, 0)[row * a.mid + col]);
    sum = column_sum(sum);
    if (threadIdx.y == 0 && col < a.mid)
        TARGET(real, 0)[col] = put(sum);
}

extern "C" int CUDA_FN(bias_grad)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    if (a->inner == 1)
        LAUNCH(bias_columns, TILES(a->mid), tile());
    else
        LAUNCH(bias_planes, a->mid, THREADS);
    return launched(c, "bias_grad");
}

/* ---- gather_grad: block r computes row r of the table ---- */

GLOBAL(gather_rows) {
    const int32_t *ids = SOURCE(int32_t, 1);
    const int64_t row = blockIdx.x;
    for (int64_t first = 0; first < a.n;
         first += THREADS) { /* columns, a block at a time */
        const int64_t col = first + threadIdx.x;
        acc sum = 0;
        for (int64_t i = 0; i < a.count; i += THREADS) {
            const int64_t own = i + threadIdx.x;
            if (!__syncthreads_or(own < a.count && ids[own] == row))
                continue; /* none of these ids is this row */
            for (int64_t j = i; j < i + THREADS && j < a.count; j++)
                if (ids[j] == row && col < a.n)
                    sum += get(SOURCE(real, 0)[j * a.n + col]);
        }
        if (col < a.n)
            TARGET(real, 0)[row * a.n + col] = put(sum);
    }
}

extern "C" int CUDA_FN(gather_grad)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(gather_rows, a->m, THREADS);
    return launched(c, "gather_grad");
}

/* ---- softmax and cross entropy: (outer, mid, inner) over mid ---- */

/* The index of the first element in the row of block b. Elements are a->inner apart. */
static __device__ int64_t row_start(const struct rp_kargs *a, int64_t b) {
    return b / a->inner * a->mid * a->inner + b % a->inner;
}

/* The number of elements in its softmax. */
static __device__ int64_t row_visible(const struct rp_kargs *a, int64_t b) {
    const int64_t n = b / a->inner % a->m + 1;
    return a->causal && n < a->mid ? n : a->mid;
}

GLOBAL(softmax_rows) {
    const int64_t start = row_start(&a, blockIdx.x), n = row_visible(&a, blockIdx.x);
    const real *z = SOURCE(real, 0) + start;
    real *y = TARGET(real, 0) + start;
    acc top = -INFINITY, sum = 0;
    SHARE(i, n)
    top = fmaxf(top, get(z[i * a.inner]));
    top = block_max(top);
    SHARE(i, n)
    sum += MATH(exp)(get(z[i * a.inner]) - top);
    sum = block_sum(sum);
    SHARE(i, a.mid)
    y[i * a.inner] = put(i < n ? MATH(exp)(get(z[i * a.inner]) - top) / sum : 0);
}

extern "C" int FALLBACK_FN(softmax)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(softmax_rows, a->outer * a->inner, THREADS);
    return launched(c, "softmax");
}

/* (gy, y) -> gx */
GLOBAL(softmax_grad_rows) {
    const int64_t start = row_start(&a, blockIdx.x), n = row_visible(&a, blockIdx.x);
    const real *gy = SOURCE(real, 0) + start, *y = SOURCE(real, 1) + start;
    real *gx = TARGET(real, 0) + start;
    acc sum = 0;
    SHARE(i, n)
    sum += get(gy[i * a.inner]) * get(y[i * a.inner]);
    sum = block_sum(sum);
    SHARE(i, a.mid)
    gx[i * a.inner] = put(i < n ? get(y[i * a.inner]) * (get(gy[i * a.inner]) - sum) : 0);
}

extern "C" int FALLBACK_FN(softmax_grad)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(softmax_grad_rows, a->outer * a->inner, THREADS);
    return launched(c, "softmax_grad");
}

/* A block computes one row's logsumexp. Many short rows, such as the pixels of an image,
 * take one thread each instead. */
GLOBAL(logsumexp_rows) {
    const real *z = SOURCE(real, 0) + row_start(&a, blockIdx.x);
    acc top = -INFINITY, sum = 0;
    SHARE(i, a.mid)
    top = fmaxf(top, get(z[i * a.inner]));
    top = block_max(top);
    SHARE(i, a.mid)
    sum += MATH(exp)(get(z[i * a.inner]) - top);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        TARGET(stat_t, 1)[blockIdx.x] = top + MATH(log)(sum);
}

GLOBAL(logsumexp_short) {
    const int64_t row = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (row >= a.outer * a.inner)
        return;
    const real *z = SOURCE(real, 0) + row_start(&a, row);
    acc top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < a.mid; i++)
        top = fmaxf(top, get(z[i * a.inner]));
    for (int64_t i = 0; i < a.mid; i++)
        sum += MATH(exp)(get(z[i * a.inner]) - top);
    TARGET(stat_t, 1)[row] = top + MATH(log)(sum);
}

/* One block. A label out of range counts as a logit of 0, as in the reference kernel. */
GLOBAL(total_loss) {
    const int32_t *labels = SOURCE(int32_t, 1);
    const int64_t rows = a.outer * a.inner;
    acc total = 0;
    SHARE(row, rows) {
        const int64_t at = row_start(&a, row) + labels[row] * a.inner;
        total += TARGET(stat_t, 1)[row] -
                 (inside(labels[row], a.mid) ? get(SOURCE(real, 0)[at]) : 0);
    }
    total = block_sum(total);
    if (threadIdx.x == 0)
        TARGET(stat_t, 0)[0] = (acc)a.alpha * total / (acc)rows;
}

extern "C" int CUDA_FN(softmax_cross_entropy)(ENTRY) {
    const int64_t rows = a->outer * a->inner;
    (void)workspace, (void)workspace_bytes;
    if (a->mid > 64)
        LAUNCH(logsumexp_rows, rows, THREADS);
    else
        LAUNCH(logsumexp_short, (rows + THREADS - 1) / THREADS, THREADS);
    LAUNCH(total_loss, 1, THREADS);
    return launched(c, "softmax_cross_entropy");
}

/* ---- batch norm: block b is channel b ---- */

static __device__ int64_t channel_at(const struct rp_kargs *a, int64_t j) {
    return (j / a->inner * a->mid + blockIdx.x) * a->inner + j % a->inner;
}

GLOBAL(batch_norm_channels) {
    const real *from = SOURCE(real, 0);
    const int64_t n = a.outer * a.inner;
    acc sum = 0, squares = 0;
    SHARE(j, n)
    sum += get(from[channel_at(&a, j)]);
    const acc mean = block_sum(sum) / (acc)n;
    SHARE(j, n) {
        const acc off = get(from[channel_at(&a, j)]) - mean;
        squares += off * off;
    }
    const acc invstd = 1 / MATH(sqrt)(block_sum(squares) / (acc)n + (acc)a.eps);
    const acc gamma = a.affine ? SOURCE(stat_t, 1)[blockIdx.x] : 1;
    const acc beta = a.affine ? SOURCE(stat_t, 2)[blockIdx.x] : 0;
    SHARE(j, n) {
        const int64_t at = channel_at(&a, j);
        TARGET(real, 0)[at] = put((get(from[at]) - mean) * invstd * gamma + beta);
    }
    if (threadIdx.x == 0) {
        TARGET(stat_t, 1)[blockIdx.x] = mean;
        TARGET(stat_t, 2)[blockIdx.x] = invstd;
    }
}

extern "C" int FALLBACK_FN(batch_norm)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(batch_norm_channels, a->mid, THREADS);
    return launched(c, "batch_norm");
}

/* (gy, x, mean, invstd, gamma if affine) -> gx, ggamma and gbeta if affine */
GLOBAL(batch_norm_grad_channels) {
    const real *gy = SOURCE(real, 0), *from = SOURCE(real, 1);
    const acc mean = SOURCE(stat_t, 2)[blockIdx.x], invstd = SOURCE(stat_t, 3)[blockIdx.x];
    const int64_t n = a.outer * a.inner;
    acc sum = 0, product = 0;
    SHARE(j, n) {
        const int64_t at = channel_at(&a, j);
        sum += get(gy[at]);
        product += get(gy[at]) * ((get(from[at]) - mean) * invstd);
    }
    sum = block_sum(sum);
    product = block_sum(product);
    const acc factor = a.affine ? SOURCE(stat_t, 4)[blockIdx.x] * invstd : invstd;
    SHARE(j, n) {
        const int64_t at = channel_at(&a, j);
        const acc h = (get(from[at]) - mean) * invstd;
        TARGET(real, 0)
        [at] = put(factor * (get(gy[at]) - sum / (acc)n - h * product / (acc)n));
    }
    if (a.affine && threadIdx.x == 0) {
        TARGET(stat_t, 1)[blockIdx.x] = product;
        TARGET(stat_t, 2)[blockIdx.x] = sum;
    }
}

extern "C" int FALLBACK_FN(batch_norm_grad)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(batch_norm_grad_channels, a->mid, THREADS);
    return launched(c, "batch_norm_grad");
}

/* ---- norms of rows: block b is row b of a.inner elements ---- */

GLOBAL(layer_norm_rows) {
    const real *from = SOURCE(real, 0) + blockIdx.x * a.inner;
    acc sum = 0, squares = 0;
    SHARE(i, a.inner)
    sum += get(from[i]);
    const acc mean = block_sum(sum) / (acc)a.inner;
    SHARE(i, a.inner)
    squares += (get(from[i]) - mean) * (get(from[i]) - mean);
    const acc invstd = 1 / MATH(sqrt)(block_sum(squares) / (acc)a.inner + (acc)a.eps);
    SHARE(i, a.inner)
    TARGET(real, 0)
    [blockIdx.x * a.inner + i] =
        put((get(from[i]) - mean) * invstd * SOURCE(stat_t, 1)[i] + SOURCE(stat_t, 2)[i]);
    if (threadIdx.x == 0) {
        TARGET(stat_t, 1)[blockIdx.x] = mean;
        TARGET(stat_t, 2)[blockIdx.x] = invstd;
    }
}

extern "C" int CUDA_FN(layer_norm)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(layer_norm_rows, a->outer, THREADS);
    return launched(c, "layer_norm");
}

/* (gy, x, mean, invstd, weight) -> gx; layer_norm_grad_columns computes the others. */
GLOBAL(layer_norm_grad_rows) {
    const int64_t start = blockIdx.x * a.inner;
    const real *gy = SOURCE(real, 0) + start, *from = SOURCE(real, 1) + start;
    const stat_t *weight = SOURCE(stat_t, 4);
    const acc mean = SOURCE(stat_t, 2)[blockIdx.x], invstd = SOURCE(stat_t, 3)[blockIdx.x];
    acc sum = 0, product = 0;
    SHARE(i, a.inner) {
        const acc u = get(gy[i]) * weight[i];
        sum += u;
        product += u * ((get(from[i]) - mean) * invstd);
    }
    sum = block_sum(sum) / (acc)a.inner;
    product = block_sum(product) / (acc)a.inner;
    SHARE(i, a.inner) {
        const acc u = get(gy[i]) * weight[i], h = (get(from[i]) - mean) * invstd;
        TARGET(real, 0)[start + i] = put(invstd * (u - sum - h * product));
    }
}

GLOBAL_TILE(layer_norm_grad_columns) {
    const int64_t col = (int64_t)blockIdx.x * TILE + threadIdx.x;
    acc sum = 0, product = 0;
    if (col < a.inner)
        for (int64_t row = threadIdx.y; row < a.outer; row += TILE) {
            const acc g = get(SOURCE(real, 0)[row * a.inner + col]);
            const acc off =
                get(SOURCE(real, 1)[row * a.inner + col]) - SOURCE(stat_t, 2)[row];
            sum += g;
            product += g * (off * SOURCE(stat_t, 3)[row]);
        }
    sum = column_sum(sum);
    product = column_sum(product);
    if (threadIdx.y == 0 && col < a.inner) {
        TARGET(stat_t, 1)[col] = product;
        TARGET(stat_t, 2)[col] = sum;
    }
}

extern "C" int CUDA_FN(layer_norm_grad)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(layer_norm_grad_rows, a->outer, THREADS);
    LAUNCH(layer_norm_grad_columns, TILES(a->inner), tile());
    return launched(c, "layer_norm_grad");
}

GLOBAL(rms_norm_rows) {
    const real *from = SOURCE(real, 0) + blockIdx.x * a.inner;
    acc squares = 0;
    SHARE(i, a.inner)
    squares += get(from[i]) * get(from[i]);
    const acc invrms = 1 / MATH(sqrt)(block_sum(squares) / (acc)a.inner + (acc)a.eps);
    SHARE(i, a.inner)
    TARGET(real, 0)
    [blockIdx.x * a.inner + i] = put(get(from[i]) * invrms * SOURCE(stat_t, 1)[i]);
    if (threadIdx.x == 0)
        TARGET(stat_t, 1)[blockIdx.x] = invrms;
}

extern "C" int CUDA_FN(rms_norm)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(rms_norm_rows, a->outer, THREADS);
    return launched(c, "rms_norm");
}

/* (gy, x, invrms, weight) -> gx, gweight */
GLOBAL(rms_norm_grad_rows) {
    const int64_t start = blockIdx.x * a.inner;
    const real *gy = SOURCE(real, 0) + start, *from = SOURCE(real, 1) + start;
    const stat_t *weight = SOURCE(stat_t, 3);
    const acc invrms = SOURCE(stat_t, 2)[blockIdx.x];
    acc product = 0;
    SHARE(i, a.inner)
    product += get(gy[i]) * weight[i] * (get(from[i]) * invrms);
    product = block_sum(product) / (acc)a.inner;
    SHARE(i, a.inner)
    TARGET(real, 0)
    [start + i] = put(invrms * (get(gy[i]) * weight[i] - get(from[i]) * invrms * product));
}

GLOBAL_TILE(rms_norm_grad_columns) {
    const int64_t col = (int64_t)blockIdx.x * TILE + threadIdx.x;
    acc product = 0;
    if (col < a.inner)
        for (int64_t row = threadIdx.y; row < a.outer; row += TILE) {
            const int64_t at = row * a.inner + col;
            product += get(SOURCE(real, 0)[at]) *
                       (get(SOURCE(real, 1)[at]) * SOURCE(stat_t, 2)[row]);
        }
    product = column_sum(product);
    if (threadIdx.y == 0 && col < a.inner)
        TARGET(stat_t, 1)[col] = product;
}

extern "C" int CUDA_FN(rms_norm_grad)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(rms_norm_grad_rows, a->outer, THREADS);
    LAUNCH(rms_norm_grad_columns, TILES(a->inner), tile());
    return launched(c, "rms_norm_grad");
}

/* ---- weight norm: one block ---- */

static __device__ acc length(const real *v, int64_t n) {
    acc squares = 0;
    SHARE(i, n)
    squares += get(v[i]) * get(v[i]);
    return MATH(sqrt)(block_sum(squares));
}

/* (v, g) -> w */
GLOBAL(weight_norm_block) {
    const real *v = SOURCE(real, 0);
    const acc factor = get(SOURCE(real, 1)[0]) / length(v, a.count);
    SHARE(i, a.count)
    TARGET(real, 0)[i] = put(factor * get(v[i]));
}

extern "C" int CUDA_FN(weight_norm)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(weight_norm_block, 1, THREADS);
    return launched(c, "weight_norm");
}

/* (gw, v, g) -> gv, gg */
GLOBAL(weight_norm_grad_block) {
    const real *gw = SOURCE(real, 0), *v = SOURCE(real, 1);
    const acc size = length(v, a.count), g = get(SOURCE(real, 2)[0]);
    acc sum = 0;
    SHARE(i, a.count)
    sum += get(gw[i]) * (get(v[i]) / size);
    sum = block_sum(sum);
    SHARE(i, a.count)
    TARGET(real, 0)[i] = put(g / size * (get(gw[i]) - get(v[i]) / size * sum));
    if (threadIdx.x == 0)
        TARGET(real, 1)[0] = put(sum);
}

extern "C" int CUDA_FN(weight_norm_grad)(ENTRY) {
    (void)workspace, (void)workspace_bytes;
    LAUNCH(weight_norm_grad_block, 1, THREADS);
    return launched(c, "weight_norm_grad");
}
