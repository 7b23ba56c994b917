/* Compares the kernels on a GPU with the reference kernels: every op of every case
 * (cases.h), in both types, by the library and by our own kernel, and twice with the same
 * bits. With emulated libraries, convolutions are computed in every way. Without a GPU it
 * only shows that everything links and starts. Prints the line of counts that
 * tools/check.sh expects. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/cuda/cuda.h"
#include "run.h"

#include "cases.h"
#include "step.h"

/* The emulated libraries can be made to decline. The real ones decide by workspace and
 * shape. */
#ifdef RP_EMULATED
extern int emulated_decline;
#else
static int emulated_decline;
#endif

static struct rp_cuda cuda;
static unsigned n_passed, n_failed;

static rp_cuda_fn *find(const char *name, enum rp_real real) {
    static const struct {
        const char *name;
        rp_cuda_fn *run[3];
    } kernels[] = {
#define X(name, ...)                                                                       \
    {#name, {rp_cuda_##name##_f32, rp_cuda_##name##_f16, rp_cuda_##name##_bf16}},
        RP_REF_KERNELS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return kernels[i].run[real];
    return NULL;
}

static void must(cudaError_t status) {
    if (status != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(status));
        exit(1);
    }
}

/* Behind every operand on the device there are bytes that form NaNs. */
enum { GUARD = 64 };

/* An op on the device: its operands, and the bits of two runs. */
struct trial {
    const struct rp_step_run *s;
    const struct rp_op *op;
    const struct rp_kernel *k;
    struct rp_kargs args;
    struct rp_cuda_way way;
    void *in[8], *out[8], *first[8], *second[8], *workspace;
};

static void run_once(struct trial *t, void **to) {
    for (uint32_t i = 0; i < t->op->n_outputs; i++)
        must(cudaMemset(t->out[i], 0xff, rp_step_bytes(t->s, t->op->outputs[i]) + GUARD));
    if (find(t->k->name, t->k->real)(&cuda, &t->args, (const void *const *)t->in, t->out,
                                     t->workspace, t->way.workspace_bytes) != 0) {
        printf("%s\n", cuda.error);
        exit(1);
    }
    must(cudaStreamSynchronize(cuda.stream));
    for (uint32_t i = 0; i < t->op->n_outputs; i++)
        must(cudaMemcpy(to[i], t->out[i], rp_step_bytes(t->s, t->op->outputs[i]) + GUARD,
                        cudaMemcpyDeviceToHost));
}

static bool guard_stands(const void *at, size_t bytes) {
    const unsigned char *guard = (const unsigned char *)at + bytes;
    for (size_t i = 0; i < GUARD; i++)
        if (guard[i] != 0xff)
            return false;
    return true;
}

/* Passes if nothing was written behind the operand, the values differ by a few roundings of
 * the type at most, and the second run gave the same bits as the first. */
static void judge(const struct trial *t, uint32_t i) {
    const uint32_t x = t->op->outputs[i];
    const char *dtype = t->s->g->tensors[x].dtype;
    const double rounding = rp_step_rounding(dtype);
    double largest = 0, off = 0;
    for (uint64_t e = 0; e < rp_step_count(t->s->g, x); e++) {
        const double want = rp_step_get(dtype, RP_BIND_GRAPH, t->s->at[x], e);
        const double got = rp_step_get(dtype, RP_BIND_GRAPH, t->first[i], e);
        largest = fmax(largest, fabs(want));
        off = isfinite(got) ? fmax(off, fabs(got - want)) : INFINITY;
    }
    const bool same = memcmp(t->first[i], t->second[i], rp_step_bytes(t->s, x)) == 0;
    const bool within = guard_stands(t->first[i], rp_step_bytes(t->s, x));
    if (same && within && off <= 60 * rounding * largest) {
        n_passed++;
        return;
    }
    n_failed++;
    printf("FAILED %s, %s (%s, workspace %zu), output %u: off by %g of %g%s%s\n",
           t->s->g->name, t->op->name, dtype, t->way.workspace_bytes, i, off, largest,
           same ? "" : ", and another result the second time",
           within ? "" : ", and written beyond its end");
}

static void *device_copy(const struct rp_step_run *s, uint32_t x) {
    void *at;
    must(cudaMalloc(&at, rp_step_bytes(s, x) + GUARD));
    must(cudaMemset(at, 0xff, rp_step_bytes(s, x) + GUARD));
    must(cudaMemcpy(at, s->at[x], rp_step_bytes(s, x), cudaMemcpyHostToDevice));
    return at;
}

/* Runs the op with the workspace that is chosen within `limit` bytes. The run must then
 * find the same way by itself. */
static struct rp_cuda_way try_op(const struct rp_step_run *s, uint32_t index,
                                 enum rp_algorithm first, size_t limit) {
    struct trial t = {.s = s, .op = &s->g->ops[index], .k = &s->kernels[index]};
    t.args = t.k->args;
    t.args.algorithm = (int32_t)first;
    if (rp_cuda_choose(&cuda, t.k->name, t.k->real, &t.args, limit, &t.way) != 0) {
        printf("%s\n", cuda.error);
        exit(1);
    }
    if (t.way.workspace_bytes > 0)
        must(cudaMalloc(&t.workspace, t.way.workspace_bytes));
    for (uint32_t i = 0; i < t.op->n_inputs; i++)
        t.in[i] = device_copy(s, t.op->inputs[i]);
    for (uint32_t i = 0; i < t.op->n_outputs; i++) {
        t.out[i] = device_copy(s, t.op->outputs[i]);
        t.first[i] = rp_calloc(rp_step_bytes(s, t.op->outputs[i]) + GUARD, 1);
        t.second[i] = rp_calloc(rp_step_bytes(s, t.op->outputs[i]) + GUARD, 1);
    }
    run_once(&t, t.first);
    run_once(&t, t.second);
    for (uint32_t i = 0; i < t.op->n_outputs; i++) {
        judge(&t, i);
        cudaFree(t.out[i]);
        free(t.first[i]);
        free(t.second[i]);
    }
    for (uint32_t i = 0; i < t.op->n_inputs; i++)
        cudaFree(t.in[i]);
    cudaFree(t.workspace);
    return t.way;
}

#ifdef RP_EMULATED
static void set(const char *name, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    setenv(name, text, 1);
}

static bool is_forward(const struct rp_kernel *k) {
    return strcmp(k->name, "conv") == 0 ||
           strcmp(k->name, "conv_transpose_grad_input") == 0;
}

static int64_t plane(const int64_t size[3]) {
    return size[0] * size[1] * size[2];
}

/* cuDNN takes half of the batch, but not all of it. */
static void try_too_many_elements(const struct rp_step_run *s, uint32_t i) {
    const struct rp_kargs *a = &s->kernels[i].args;
    const int64_t x = a->channels * plane(a->x_size), y = a->filters * plane(a->y_size);
    const uint64_t before = cuda.n_in_parts;
    set("CUDNN_ELEMENTS", a->batch * (x > y ? x : y));
    const struct rp_cuda_way way = try_op(s, i, RP_IMPLICIT_PRECOMP_GEMM, SIZE_MAX);
    unsetenv("CUDNN_ELEMENTS");
    CU_ASSERT_STRING_EQUAL(cuda.declined, "tensor: declined");
    CU_ASSERT_EQUAL(way.algorithm, a->batch == 1                ? RP_DIRECT
                                   : is_forward(&s->kernels[i]) ? RP_IMPLICIT_PRECOMP_GEMM
                                                                : RP_ALGO_1);
    CU_ASSERT_EQUAL(way.images, (a->batch + 1) / 2);
    CU_ASSERT_EQUAL(cuda.n_in_parts - before, a->batch == 1 ? 0 : 2);
}

/* Half of the batch, or one image, needs no more workspace than allowed. Only a forward
 * convolution has an algorithm that needs none. */
static void try_too_much_workspace(const struct rp_step_run *s, uint32_t i) {
    const struct rp_kernel *k = &s->kernels[i];
    const int64_t each = 2 * RP_CUDA_SCRATCH_BYTES, batch = k->args.batch;
    const bool forward =
        strcmp(k->name, "conv") == 0 || strcmp(k->name, "conv_transpose_grad_input") == 0;
    const uint64_t before = cuda.n_implicit_gemm;
    set("IMAGE_WORKSPACE", each);
    for (int64_t limit = batch - 1; limit >= 0; limit--) {
        const struct rp_cuda_way way =
            try_op(s, i, RP_IMPLICIT_PRECOMP_GEMM, (size_t)(limit * each) + 64);
        CU_ASSERT_EQUAL(way.algorithm, forward      ? RP_IMPLICIT_GEMM
                                       : limit == 0 ? RP_DIRECT
                                                    : RP_ALGO_1);
        CU_ASSERT(way.images == batch || (!forward && way.images <= limit));
        CU_ASSERT(way.workspace_bytes <= (size_t)(limit * each) + 64);
    }
    unsetenv("IMAGE_WORKSPACE");
    CU_ASSERT_EQUAL(cuda.n_implicit_gemm - before, forward ? 2 * batch : 0);
}

static void try_all_ways(const struct rp_step_run *s, uint32_t i) {
    if (strncmp(s->kernels[i].name, "conv", 4) != 0)
        return;
    try_too_many_elements(s, i);
    try_too_much_workspace(s, i);
}
#else
static void try_all_ways(const struct rp_step_run *s, uint32_t i) {
    (void)s, (void)i;
}
#endif

static void try_graph(const struct rp_graph *g) {
    struct rp_step_run s;
    rp_step_open(&s, g, RP_BIND_GRAPH);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        rp_step_run_op(&s, i);
        try_op(&s, i, RP_USUAL, SIZE_MAX);
        emulated_decline = 1;
        try_op(&s, i, RP_DIRECT, 0);
        emulated_decline = 0;
        try_all_ways(&s, i);
    }
    rp_step_close(&s);
}

static void kernels_agree_with_the_reference_kernels(void) {
    rp_case_all(RP_F32, try_graph);
    rp_case_all(RP_F16, try_graph);
    rp_case_all(RP_BF16, try_graph);
}

/* Cases and steps use CUnit's assertions, which need a running test. */
static void run_tests(void) {
    CU_initialize_registry();
    RP_SUITE("cuda");
    RP_TEST(kernels_agree_with_the_reference_kernels);
    CU_basic_set_mode(CU_BRM_SILENT);
    CU_basic_run_tests();
    n_failed += CU_get_number_of_failures();
    CU_pFailureRecord f = CU_get_failure_list();
    for (; f != NULL; f = f->pNext)
        printf("FAILED %s:%u: %s\n", f->strFileName, f->uiLineNumber, f->strCondition);
    CU_cleanup_registry();
}

/* usage: check_kernels NAME. NAME begins the line of counts. */
int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cuda-kernels";
    int n = 0;
    cudaStream_t stream;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
        printf("%s: skipped (no GPU; the kernels compile and link)\n", name);
        return 0;
    }
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (rp_cuda_open(&cuda, stream) != 0) {
        printf("%s\n", cuda.error);
        return 1;
    }
    run_tests();
    printf(
        "%llu calls by kernels of our own, %llu by implicit_gemm instead, %llu in parts\n",
        (unsigned long long)cuda.n_fallbacks, (unsigned long long)cuda.n_implicit_gemm,
        (unsigned long long)cuda.n_in_parts);
    rp_cuda_close(&cuda);
    printf("%s: %u passed, %u failed\n", name, n_passed, n_failed);
    return n_failed != 0;
}
