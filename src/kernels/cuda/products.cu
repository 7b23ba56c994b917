/* SPDX-License-Identifier: MIT */
/* products: matmul and bmm by cuBLAS. Its matrices are column-major. Our row-major matrices
 * are transposed there, so c = a b becomes c' = b' a'. */
#include "kernels/cuda/library.h"

/* A column-major operand of a cuBLAS product, which may be transposed. */
struct matrix {
    const void *at;
    bool transposed;
    int64_t ld, step; /* distance of columns, of matrices in the batch; in elements */
};

/* `batch` products c = alpha * left * right + beta * c; c is m x n, column-major, at `to`.
 * */
static enum outcome gemm(struct rp_cuda *c, const struct rp_kargs *a, enum rp_real real,
                         int64_t m, int64_t n, const struct matrix &left,
                         const struct matrix &right, float beta, void *to, int64_t to_ld,
                         int64_t to_step, int64_t batch) {
    const cudaDataType type = type_of(real)->blas;
    const float factor = (float)a->alpha;
    const int64_t sizes[7] = {m, n, a->k, left.ld, right.ld, to_ld, batch};
    int size[7];
    if (!narrow(7, sizes, size))
        return declined(c, "product", too_large);
    return of_blas(c, "cublasGemmStridedBatchedEx",
                   cublasGemmStridedBatchedEx(
                       c->blas, left.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                       right.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, size[0], size[1],
                       size[2], &factor, left.at, type, size[3], left.step, right.at, type,
                       size[4], right.step, &beta, to, type, size[5], to_step, size[6],
                       a->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : type_of(real)->compute,
                       CUBLAS_GEMM_DEFAULT));
}

/* Gives cuBLAS the op's workspace or the scratch memory, so that it need not allocate. */
static enum outcome use_workspace(struct rp_cuda *c, void *workspace, size_t bytes) {
    const bool own = workspace != NULL && bytes >= RP_CUDA_SCRATCH_BYTES;
    return of_blas(c, "cublasSetWorkspace",
                   cublasSetWorkspace(c->blas, own ? workspace : c->scratch,
                                      own ? bytes : RP_CUDA_SCRATCH_BYTES));
}

/* With a single b and contiguous rows of a, the whole batch is one product. */
LIBRARY_CALL(matmul) {
    const bool merge = a->single_b && !a->transpose_a;
    const int64_t m = merge ? a->batch * a->m : a->m, batch = merge ? 1 : a->batch;
    const struct matrix right = {in[0], a->transpose_a != 0, a->transpose_a ? a->m : a->k,
                                 a->m * a->k};
    const struct matrix left = {in[1], a->transpose_b != 0, a->transpose_b ? a->k : a->n,
                                a->single_b ? 0 : a->k * a->n};
    const int64_t n = a->batch * a->m * a->n;
    DO(use_workspace(c, workspace, workspace_bytes));
    if (a->n_in > 2 && type_of(real)->put_bias(c, in[2], out[0], a->n, 1, n) != 0)
        return FAILED;
    return gemm(c, a, real, a->n, m, left, right, a->n_in > 2 ? 1 : 0, out[0],
                a->n, a->m * a->n, batch);
}

/* The layout of a row-major matrix with these strides; false if no dimension is dense. */
static bool layout(int64_t rows, int64_t cols, const int64_t *stride, bool *transposed,
                   int64_t *ld) {
    const int64_t row = stride[3], col = stride[4];
    if (cols == 1 || col == 1) {
        *transposed = false;
        *ld = rows == 1 ? cols : row;
        return *ld >= cols;
    }
    *transposed = true;
    *ld = col;
    return (rows == 1 || row == 1) && *ld >= rows;
}

static const char *shift(const void *at, enum rp_real real, int64_t elements) {
    return (const char *)at + elements * type_of(real)->bytes;
}

/* One call handles the batch dimension `batched`; the other two are loops. In dimensions
 * where c has stride 0, later products are added to the first. */
struct bmm_plan {
    int batched;
    bool swap;                 /* c is stored transposed: compute a b, not b' a' */
    struct matrix left, right; /* in the order of the cuBLAS call */
    int64_t ld;                /* of c */
};

static bool plan_bmm(const struct rp_kargs *a, struct bmm_plan *p) {
    bool ta, tb, tc;
    int64_t lda, ldb;
    if (!layout(a->m, a->k, a->stride_a, &ta, &lda) ||
        !layout(a->k, a->n, a->stride_b, &tb, &ldb) ||
        !layout(a->m, a->n, a->stride_c, &tc, &p->ld))
        return false;
    p->batched = -1;
    for (int d = 0; d < 3; d++)
        if (a->stride_c[d] != 0 && a->batches[d] > 1 &&
            (p->batched < 0 || a->batches[d] > a->batches[p->batched]))
            p->batched = d;
    const int b = p->batched;
    const struct matrix left = {NULL, ta, lda, b < 0 ? 0 : a->stride_a[b]};
    const struct matrix right = {NULL, tb, ldb, b < 0 ? 0 : a->stride_b[b]};
    p->swap = tc;
    p->left = tc ? left : right;
    p->right = tc ? right : left;
    if (tc) { /* in this order cuBLAS sees the transpose of each row-major operand */
        p->left.transposed = !p->left.transposed;
        p->right.transposed = !p->right.transposed;
    }
    return true;
}

static enum outcome run_bmm(struct rp_cuda *c, const struct rp_kargs *a, enum rp_real real,
                            const void *const *in, void *const *out,
                            const struct bmm_plan *p, const int64_t at[3]) {
    int64_t at_a = 0, at_b = 0, at_c = 0;
    bool first = true; /* in every dimension that is summed over */
    for (int d = 0; d < 3; d++) {
        at_a += at[d] * a->stride_a[d];
        at_b += at[d] * a->stride_b[d];
        at_c += at[d] * a->stride_c[d];
        first = first && (a->stride_c[d] != 0 || at[d] == 0);
    }
    struct matrix left = p->left, right = p->right;
    left.at = p->swap ? shift(in[0], real, at_a) : shift(in[1], real, at_b);
    right.at = p->swap ? shift(in[1], real, at_b) : shift(in[0], real, at_a);
    const int b = p->batched;
    return gemm(c, a, real, p->swap ? a->m : a->n, p->swap ? a->n : a->m, left, right,
                 first ? 0 : 1, (void *)shift(out[0], real, at_c), p->ld,
                b < 0 ? 0 : a->stride_c[b], b < 0 ? 1 : a->batches[b]);
}

LIBRARY_CALL(bmm) {
    struct bmm_plan p;
    int64_t n[3], at[3];
    if (!plan_bmm(a, &p))
        return declined(c, "product", "strides that cuBLAS does not have");
    enum outcome o = use_workspace(c, workspace, workspace_bytes);
    for (int d = 0; d < 3; d++)
        n[d] = d == p.batched ? 1 : a->batches[d];
    for (at[0] = 0; at[0] < n[0]; at[0]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[2] = 0; at[2] < n[2] && o == DONE; at[2]++)
                o = run_bmm(c, a, real, in, out, &p, at);
    return o;
}

LIBRARY(matmul)
LIBRARY(bmm)
