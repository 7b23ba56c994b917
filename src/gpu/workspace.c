/* remat-gpu-workspace IN OUT: the graph IN with what its kernels want on this machine's
 * GPU.
 *
 * How cuDNN computes a convolution, and the workspace that takes, depend on the device and
 * the library, so a graph cannot know them before it meets both. This program records them,
 * and a plan for OUT then has the workspace in its arena:
 *   - a convolution's "algorithm" (docs/ops.md): implicit_precomp_gemm forward, algo_1 for
 *     gradients, or direct where those want more than LIMIT or are not supported;
 *   - workspace_bytes of convolutions and matrix products.
 * Both are deterministic, and the same in every run of an op. Built where CUDA is.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "kernels/cuda/cuda.h"
#include "kernels/kernel.h"

/* More than a convolution's own operands usually are: it would take what planning saves. */
static const size_t LIMIT = (size_t)1 << 30;

static bool starts(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* cuDNN's forward convolution computes these two. */
static bool goes_forward(const struct rp_kernel *k) {
    return strcmp(k->name, "conv") == 0 ||
           strcmp(k->name, "conv_transpose_grad_input") == 0;
}

static void record(struct rp_op *op, const char *algorithm) {
    json_object_set_new(op->attrs, "algorithm", json_string(algorithm));
}

/* The op as `algorithm` would compute it. */
static rp_rc ask(struct rp_cuda *c, struct rp_graph *g, uint32_t i, const char *file,
                 size_t *bytes, struct rp_err *err) {
    struct rp_kernel k;
    rp_rc rc = rp_kernel_bind(g, i, RP_BIND_GRAPH, file, &k, err);
    if (rc == RP_OK && rp_cuda_workspace(c, k.name, k.real, &k.args, bytes) != 0)
        rc = rp_fail(err, RP_ENV, "%s", c->error);
    rp_kernel_fini(&k);
    return rc;
}

static rp_rc set_op(struct rp_cuda *c, struct rp_graph *g, uint32_t i, const char *file,
                    struct rp_err *err) {
    struct rp_op *op = &g->ops[i];
    struct rp_kernel k;
    size_t bytes = 0;
    rp_rc rc = rp_kernel_bind(g, i, RP_BIND_GRAPH, file, &k, err);
    if (rc != RP_OK)
        return rc;
    const bool conv = starts(k.name, "conv"), forward = goes_forward(&k);
    rp_kernel_fini(&k);
    if (conv)
        record(op, forward ? "implicit_precomp_gemm" : "algo_1");
    c->declined[0] = '\0';
    rc = ask(c, g, i, file, &bytes, err);
    if (conv && (bytes > LIMIT || c->declined[0] != '\0')) {
        record(op, "direct");
        bytes = 0;
    }
    op->workspace_bytes = bytes;
    return rc;
}

static rp_rc set_all(struct rp_cuda *c, const char *in, const char *out,
                     struct rp_err *err) {
    struct rp_graph g;
    uint64_t most = 0;
    rp_rc rc = rp_graph_load(in, &g, err);
    if (rc != RP_OK)
        return rc;
    for (uint32_t i = 0; i < g.n_ops && rc == RP_OK; i++) {
        rc = set_op(c, &g, i, in, err);
        if (g.ops[i].workspace_bytes > most)
            most = g.ops[i].workspace_bytes;
    }
    if (rc == RP_OK)
        rc = rp_graph_check(&g, in, err); /* sums of workspaces */
    if (rc == RP_OK)
        rc = rp_graph_save(&g, out, err);
    if (rc == RP_OK)
        printf("%u ops, at most %llu bytes of workspace\n", g.n_ops,
               (unsigned long long)most);
    rp_graph_fini(&g);
    return rc;
}

static rp_rc run(const char *in, const char *out, struct rp_err *err) {
    struct rp_cuda cuda = {0};
    cudaStream_t stream;
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0)
        return rp_fail(err, RP_ENV, "there is no GPU, or no driver for it");
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        rp_cuda_open(&cuda, stream) != 0)
        return rp_fail(err, RP_ENV, "the GPU cannot be used: %s", cuda.error);
    rp_rc rc = set_all(&cuda, in, out, err);
    rp_cuda_close(&cuda);
    return rc;
}

int main(int argc, char **argv) {
    struct rp_err err = {{0}};
    rp_rc rc = argc == 3 ? run(argv[1], argv[2], &err)
                         : rp_fail(&err, RP_USAGE, "usage: remat-gpu-workspace IN OUT");
    if (rc != RP_OK)
        rp_log(-1, "%s", err.msg);
    return rc;
}
