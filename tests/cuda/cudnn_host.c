/* Asks the real cuDNN, on a machine without a GPU, about the calls that our kernels make:
 * for every convolution, pooling, batch norm and softmax of the zoo and of cases.h, in each
 * type, and of networks with tensors of 2^31 elements and more. The kernels are the ones
 * that run on a GPU, with cuDNN's own headers and its own descriptors. Only the calls that
 * need a GPU end here:
 *
 *   - the output's sizes must be those that cuDNN computes for the descriptors of the call
 *     (cudnnGetConvolutionNdForwardOutputDim, cudnnGetPoolingNdForwardOutputDim, in
 *     gradients too);
 *   - each descriptor must have, for cuDNN, as many bytes as the operand that is passed
 * with it, or, in parts of the batch, all parts together, and no operand may be left out;
 *   - no convolution may be declined, by cuDNN or by our code, and no pooling unless it is
 *     larger than cuDNN takes.
 *
 * How much workspace an algorithm needs is answered only with a handle, that is on a GPU:
 * here the answer is none. Prints the line of counts that tools/check.sh expects. */
#include <CUnit/Basic.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/cuda/fallback.h"
#include "kernels/kernel.h"
#include "run.h"

#include "cases.h"
#include "networks.h"

/* ---- the op that is asked about ---- */

/* Operands are never read: their addresses only tell which they are. */
enum { MAX_OPERANDS = 16, ADDRESS_BITS = 42 };

static struct {
    const struct rp_graph *g;
    const struct rp_op *op;
    uint64_t bytes[MAX_OPERANDS];
    uint64_t low[MAX_OPERANDS], high[MAX_OPERANDS]; /* what the calls describe of it */
    uint32_t n;
    bool declined, wrong;
} now;

static unsigned n_passed, n_failed, n_declined;
static uint64_t n_asked; /* calls */

static void disagree(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void disagree(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    printf("FAILED cudnn-host: %s, %s: ", now.g->name, now.op->name);
    vprintf(fmt, args);
    printf("\n");
    va_end(args);
    now.wrong = true;
}

static void *address(uint32_t slot) {
    return (void *)((uintptr_t)(slot + 1) << ADDRESS_BITS);
}

/* `bytes` at this address are described. */
static void describe(const char *what, const void *at, uint64_t bytes) {
    const uint32_t slot = (uint32_t)((uintptr_t)at >> ADDRESS_BITS) - 1;
    const uint64_t from = (uintptr_t)at & (((uintptr_t)1 << ADDRESS_BITS) - 1);
    if (slot >= now.n || from + bytes > now.bytes[slot]) {
        disagree("%s has %" PRIu64 " bytes for cuDNN, from byte %" PRIu64
                 " of operand %" PRIu32 ", which has %" PRIu64,
                 what, bytes, from, slot, slot < now.n ? now.bytes[slot] : 0);
        return;
    }
    if (from < now.low[slot])
        now.low[slot] = from;
    if (from + bytes > now.high[slot])
        now.high[slot] = from + bytes;
}

static void describe_tensor(const char *what, cudnnTensorDescriptor_t d, const void *at) {
    size_t bytes = 0;
    if (cudnnGetTensorSizeInBytes(d, &bytes) != CUDNN_STATUS_SUCCESS)
        disagree("%s has no size for cuDNN", what);
    describe(what, at, bytes);
}

static void describe_filter(cudnnFilterDescriptor_t d, const void *at) {
    size_t bytes = 0;
    if (cudnnGetFilterSizeInBytes(d, &bytes) != CUDNN_STATUS_SUCCESS)
        disagree("the filter has no size for cuDNN");
    describe("the filter", at, bytes);
}

/* ---- the calls that need a GPU ---- */

enum { MAX_DIMS = 8 };

static int sizes_of(cudnnTensorDescriptor_t d, int *sizes) {
    cudnnDataType_t type;
    int n = 0, strides[MAX_DIMS];
    cudnnGetTensorNdDescriptor(d, MAX_DIMS, &type, &n, sizes, strides);
    return n;
}

static void compare(cudnnStatus_t status, const int *theirs, cudnnTensorDescriptor_t y) {
    int ours[MAX_DIMS];
    const int n = sizes_of(y, ours);
    n_asked++;
    if (status != CUDNN_STATUS_SUCCESS)
        disagree("%s", cudnnGetErrorString(status));
    else
        for (int i = 0; i < n; i++)
            if (ours[i] != theirs[i])
                disagree("dimension %d of y is %d, for cuDNN %d", i, ours[i], theirs[i]);
}

static cudnnStatus_t ask_conv(cudnnTensorDescriptor_t x, const void *x_at,
                              cudnnFilterDescriptor_t w, const void *w_at,
                              cudnnConvolutionDescriptor_t d, cudnnTensorDescriptor_t y,
                              const void *y_at) {
    int theirs[MAX_DIMS], ours[MAX_DIMS];
    const int n = sizes_of(x, ours);
    compare(cudnnGetConvolutionNdForwardOutputDim(d, x, w, n, theirs), theirs, y);
    describe_tensor("x", x, x_at);
    describe_filter(w, w_at);
    describe_tensor("y", y, y_at);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t ask_pool(cudnnPoolingDescriptor_t d, cudnnTensorDescriptor_t x,
                              cudnnTensorDescriptor_t y) {
    int theirs[MAX_DIMS], ours[MAX_DIMS];
    const int n = sizes_of(x, ours);
    compare(cudnnGetPoolingNdForwardOutputDim(d, x, n, theirs), theirs, y);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t no_workspace(size_t *bytes) {
    *bytes = 0;
    return CUDNN_STATUS_SUCCESS;
}

/* These have the names and parameters of cuDNN's functions. */

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t h, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t d, const cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algo, size_t *bytes) {
    (void)h, (void)x, (void)w, (void)d, (void)y, (void)algo;
    return no_workspace(bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t h, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t d, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algo, size_t *bytes) {
    (void)h, (void)w, (void)dy, (void)d, (void)dx, (void)algo;
    return no_workspace(bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t h, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t d, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algo, size_t *bytes) {
    (void)h, (void)x, (void)dy, (void)d, (void)dw, (void)algo;
    return no_workspace(bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t h, const void *alpha,
                                      const cudnnTensorDescriptor_t x, const void *x_at,
                                      const cudnnFilterDescriptor_t w, const void *w_at,
                                      const cudnnConvolutionDescriptor_t d,
                                      cudnnConvolutionFwdAlgo_t algo, void *workspace,
                                      size_t bytes, const void *beta,
                                      const cudnnTensorDescriptor_t y, void *y_at) {
    (void)h, (void)alpha, (void)algo, (void)workspace, (void)bytes, (void)beta;
    return ask_conv(x, x_at, w, w_at, d, y, y_at);
}

cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t h, const void *alpha, const cudnnFilterDescriptor_t w, const void *w_at,
    const cudnnTensorDescriptor_t y, const void *y_at, const cudnnConvolutionDescriptor_t d,
    cudnnConvolutionBwdDataAlgo_t algo, void *workspace, size_t bytes, const void *beta,
    const cudnnTensorDescriptor_t x, void *x_at) {
    (void)h, (void)alpha, (void)algo, (void)workspace, (void)bytes, (void)beta;
    return ask_conv(x, x_at, w, w_at, d, y, y_at);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t h, const void *alpha, const cudnnTensorDescriptor_t x, const void *x_at,
    const cudnnTensorDescriptor_t y, const void *y_at, const cudnnConvolutionDescriptor_t d,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workspace, size_t bytes, const void *beta,
    const cudnnFilterDescriptor_t w, void *w_at) {
    (void)h, (void)alpha, (void)algo, (void)workspace, (void)bytes, (void)beta;
    return ask_conv(x, x_at, w, w_at, d, y, y_at);
}

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t h, const cudnnPoolingDescriptor_t d,
                                  const void *alpha, const cudnnTensorDescriptor_t x,
                                  const void *x_at, const void *beta,
                                  const cudnnTensorDescriptor_t y, void *y_at) {
    (void)h, (void)alpha, (void)beta;
    describe_tensor("x", x, x_at);
    describe_tensor("y", y, y_at);
    return ask_pool(d, x, y);
}

cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t h, const cudnnPoolingDescriptor_t d,
                                   const void *alpha, const cudnnTensorDescriptor_t y,
                                   const void *y_at, const cudnnTensorDescriptor_t dy,
                                   const void *dy_at, const cudnnTensorDescriptor_t x,
                                   const void *x_at, const void *beta,
                                   const cudnnTensorDescriptor_t dx, void *dx_at) {
    (void)h, (void)alpha, (void)beta;
    describe_tensor("y", y, y_at);
    describe_tensor("gy", dy, dy_at);
    describe_tensor("x", x, x_at);
    describe_tensor("gx", dx, dx_at);
    return ask_pool(d, x, y);
}

/* cuDNN's statistics are those of the channels of x. */
static void describe_stats(cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t stats,
                           const void *const at[4]) {
    int of_x[MAX_DIMS], of_stats[MAX_DIMS];
    const int n = sizes_of(x, of_x), m = sizes_of(stats, of_stats);
    static const char *const what[] = {"gamma", "beta", "mean", "invstd"};
    n_asked++;
    if (n != m || of_x[1] != of_stats[1])
        disagree("statistics of %d channels, for cuDNN %d", of_x[1], of_stats[1]);
    for (int i = 0; i < 4; i++)
        describe_tensor(what[i], stats, at[i]);
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t h, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t x, const void *x_at, const cudnnTensorDescriptor_t y,
    void *y_at, const cudnnTensorDescriptor_t stats, const void *scale, const void *bias,
    double factor, void *running_mean, void *running_var, double eps, void *mean,
    void *invstd) {
    (void)h, (void)mode, (void)alpha, (void)beta, (void)factor, (void)eps;
    (void)running_mean, (void)running_var;
    const void *const at[4] = {scale, bias, mean, invstd};
    describe_tensor("x", x, x_at);
    describe_tensor("y", y, y_at);
    describe_stats(x, stats, at);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t h, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const void *alpha_param, const void *beta_param, const cudnnTensorDescriptor_t x,
    const void *x_at, const cudnnTensorDescriptor_t dy, const void *dy_at,
    const cudnnTensorDescriptor_t dx, void *dx_at, const cudnnTensorDescriptor_t stats,
    const void *scale, void *dscale, void *dbias, double eps, const void *mean,
    const void *invstd) {
    (void)h, (void)mode, (void)alpha, (void)beta, (void)alpha_param, (void)beta_param;
    (void)eps;
    const void *const at[4] = {scale, dbias, mean, invstd};
    describe_tensor("x", x, x_at);
    describe_tensor("gy", dy, dy_at);
    describe_tensor("gx", dx, dx_at);
    describe_tensor("ggamma", stats, dscale);
    describe_stats(x, stats, at);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t h, cudnnSoftmaxAlgorithm_t algo,
                                  cudnnSoftmaxMode_t mode, const void *alpha,
                                  const cudnnTensorDescriptor_t x, const void *x_at,
                                  const void *beta, const cudnnTensorDescriptor_t y,
                                  void *y_at) {
    (void)h, (void)algo, (void)mode, (void)alpha, (void)beta;
    describe_tensor("x", x, x_at);
    describe_tensor("y", y, y_at);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t h, cudnnSoftmaxAlgorithm_t algo,
                                   cudnnSoftmaxMode_t mode, const void *alpha,
                                   const cudnnTensorDescriptor_t y, const void *y_at,
                                   const cudnnTensorDescriptor_t dy, const void *dy_at,
                                   const void *beta, const cudnnTensorDescriptor_t dx,
                                   void *dx_at) {
    (void)h, (void)algo, (void)mode, (void)alpha, (void)beta;
    describe_tensor("y", y, y_at);
    describe_tensor("gy", dy, dy_at);
    describe_tensor("gx", dx, dx_at);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- the kernels' other halves ---- */

/* Kernels of our own, for what the library declines. */
#define FALLBACK(name, type)                                                               \
    int rp_fallback_##name##_##type(struct rp_cuda *c, const struct rp_kargs *a,           \
                                    const void *const *in, void *const *out, void *w,      \
                                    size_t n) {                                            \
        (void)c, (void)a, (void)in, (void)out, (void)w, (void)n;                           \
        now.declined = true;                                                               \
        return 0;                                                                          \
    }
#define X(name) FALLBACK(name, f32) FALLBACK(name, f16) FALLBACK(name, bf16)
RP_FALLBACK_KERNELS(X)
#undef X

#define BIAS(type, bytes)                                                                  \
    int rp_fallback_bias_##type(struct rp_cuda *c, const void *v, void *y, int64_t mid,    \
                                int64_t inner, int64_t n) {                                \
        (void)c, (void)inner;                                                              \
        describe("the bias", v, (uint64_t)mid *bytes);                                     \
        describe("y", y, (uint64_t)n *bytes);                                              \
        return 0;                                                                          \
    }
BIAS(f32, 4)
BIAS(f16, 2)
BIAS(bf16, 2)

/* ---- asking ---- */

/* Kernels of cuDNN. */
enum declines {
    NEVER,
    LARGE,    /* tensors that are too large for cuDNN may be declined, */
    ATTRIBUTE /* and so may ops, by their attributes (cuda.h) */
};
static const struct {
    const char *name;
    rp_cuda_fn *run[RP_REAL64]; /* by enum rp_real */
    enum declines declines;
} kernels[] = {
/* clang-format off */
#define K(name, declines)                                                                  \
    {#name,                                                                                \
     {rp_cuda_##name##_f32, rp_cuda_##name##_f16, rp_cuda_##name##_bf16},                  \
     declines},
    K(conv, NEVER)
    K(conv_grad_input, NEVER)
    K(conv_grad_weight, NEVER)
    K(conv_transpose, NEVER)
    K(conv_transpose_grad_input, NEVER)
    K(conv_transpose_grad_weight, NEVER)
    K(max_pool, LARGE)
    K(max_pool_grad, LARGE)
    K(avg_pool, LARGE)
    K(avg_pool_grad, LARGE)
    K(batch_norm, ATTRIBUTE)
    K(batch_norm_grad, ATTRIBUTE)
    K(softmax, ATTRIBUTE)
    K(softmax_grad, ATTRIBUTE)
#undef K
    /* clang-format on */
};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };
static unsigned n_asked_of[N_KERNELS], n_in_parts;

static bool may_decline(size_t which) {
    bool large = false;
    for (uint32_t i = 0; i < now.n; i++)
        large = large || now.bytes[i] >= (uint64_t)1 << 32; /* 2^31 elements of 2 bytes */
    return kernels[which].declines == ATTRIBUTE ||
           (kernels[which].declines == LARGE && large);
}

static void set_operands(const struct rp_graph *g, const struct rp_op *op) {
    now.n = op->n_inputs + op->n_outputs;
    for (uint32_t i = 0; i < now.n; i++) {
        const uint32_t x = i < op->n_inputs ? op->inputs[i] : op->outputs[i - op->n_inputs];
        now.bytes[i] = g->tensors[x].bytes;
        now.low[i] = UINT64_MAX;
        now.high[i] = 0;
    }
}

/* Every operand is described from its first byte to its last. */
static void check_whole(void) {
    for (uint32_t i = 0; i < now.n; i++)
        if (now.low[i] != 0 || now.high[i] != now.bytes[i])
            disagree("operand %" PRIu32 " has %" PRIu64 " bytes, but %" PRIu64 " for cuDNN",
                     i, now.bytes[i],
                     now.high[i] > now.low[i] ? now.high[i] - now.low[i] : 0);
}

static void ask(const struct rp_kernel *k, size_t which) {
    struct rp_cuda c = {0};
    const void *in[MAX_OPERANDS];
    void *out[MAX_OPERANDS];
    for (uint32_t i = 0; i < now.op->n_inputs; i++)
        in[i] = address(i);
    for (uint32_t i = 0; i < now.op->n_outputs; i++)
        out[i] = address(now.op->n_inputs + i);
    now.declined = now.wrong = false;
    if (kernels[which].run[k->real](&c, &k->args, in, out, NULL, 0) != 0)
        disagree("%s", c.error);
    else if (now.declined && !may_decline(which))
        disagree("declined: %s", c.declined);
    else if (!now.declined)
        check_whole();
    n_asked_of[which]++;
    n_declined += now.declined;
    n_in_parts += c.n_in_parts > 0;
    *(now.wrong ? &n_failed : &n_passed) += 1;
}

static void ask_op(const struct rp_graph *g, uint32_t index) {
    struct rp_err err = {{0}};
    struct rp_kernel k;
    now.g = g;
    now.op = &g->ops[index];
    if (rp_kernel_bind(g, index, RP_BIND_GRAPH, g->name, &k, &err) != RP_OK)
        return; /* other tests say which kinds have kernels */
    for (size_t i = 0; i < N_KERNELS; i++)
        if (strcmp(kernels[i].name, k.name) == 0) {
            set_operands(g, now.op);
            ask(&k, i);
        }
    rp_kernel_fini(&k);
}

static void ask_graph(const struct rp_graph *g) {
    for (uint32_t i = 0; i < g->n_ops; i++)
        ask_op(g, i);
}

static void ask_network(const char *name, const struct rp_zoo_options *o) {
    struct rp_graph g = rp_net_build(name, *o);
    ask_graph(&g);
    rp_graph_fini(&g);
}

static void ask_zoo(enum rp_dtype dtype) {
    static const struct {
        const char *name;
        uint64_t batch;
    } large[] = {{"vgg16", 1000}, {"unet", 201}, {"mobilenet_v2", 3000}, {"unet3d", 63}};
    struct rp_zoo_options usual = rp_net_defaults(), tiny = rp_net_tiny();
    usual.dtype = tiny.dtype = dtype;
    for (size_t i = 0; i < rp_zoo_n_entries; i++) {
        ask_network(rp_zoo_registry[i]->name, &usual);
        ask_network(rp_zoo_registry[i]->name, &tiny);
    }
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        usual.batch = large[i].batch;
        ask_network(large[i].name, &usual);
    }
}

static void cudnn_agrees(void) {
    static const enum rp_dtype dtypes[] = {RP_F32, RP_F16, RP_BF16};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
        rp_case_all(dtypes[d], ask_graph);
        ask_zoo(dtypes[d]);
    }
}

int main(void) {
    const size_t version = cudnnGetVersion();
    CU_initialize_registry(); /* cases use CUnit's assertions, which need a running test */
    RP_SUITE("cudnn-host");
    RP_TEST(cudnn_agrees);
    CU_basic_set_mode(CU_BRM_SILENT);
    CU_basic_run_tests();
    n_failed += CU_get_number_of_failures();
    CU_cleanup_registry();
    printf("cuDNN %zu.%zu.%zu:", version / 10000, version / 100 % 100, version % 100);
    for (size_t i = 0; i < N_KERNELS; i++)
        printf(" %u %s%s", n_asked_of[i], kernels[i].name, i + 1 < N_KERNELS ? "," : ";");
    printf(" %u of them declined, %u in parts, %" PRIu64 " sizes compared\n", n_declined,
           n_in_parts, n_asked);
    printf("cudnn-host: %u passed, %u failed\n", n_passed, n_failed);
    return n_failed != 0;
}
