/* Binders of kinds with windows: convolutions and pooling. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "kernels/bind.h"

/* The spatial sizes of images (N, C, H, W) or volumes (N, C, D, H, W). Images get depth 1.
 */
static void read_spatial(struct rp_binding *b, int slot, int64_t size[3]) {
    const struct rp_operand *x = rp_bind_operand(b, slot);
    if (x->n_dims != 4 && x->n_dims != 5) {
        rp_bind_fail(b, "an operand has neither 4 nor 5 dimensions");
        return;
    }
    size[0] = x->n_dims == 5 ? x->dim[2] : 1;
    size[1] = x->dim[x->n_dims - 2];
    size[2] = x->dim[x->n_dims - 1];
}

/* Reads one number for each spatial dimension. The depth of images gets `depth`. */
static void window_attr(struct rp_binding *b, const char *key, int64_t depth,
                        int64_t to[3]) {
    const size_t n = b->in[0].n_dims - 2;
    int64_t value[3] = {1, 1, 1};
    rp_bind_ints(b, key, n, value);
    to[0] = depth;
    for (size_t i = 0; i < n; i++)
        to[i + 3 - n] = value[i];
}

/* Reads batch, channels and sizes of both sides. */
static void read_planes(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    const struct rp_operand *x = rp_bind_operand(b, b->kind->x);
    const struct rp_operand *y = rp_bind_operand(b, b->kind->y);
    read_spatial(b, b->kind->x, a->x_size);
    read_spatial(b, b->kind->y, a->y_size);
    if (b->rc == RP_OK && (x->n_dims != y->n_dims || x->dim[0] != y->dim[0]))
        rp_bind_fail(b, "the operands differ in number of dimensions or in batch");
    if (b->rc != RP_OK)
        return;
    a->batch = x->dim[0];
    a->channels = x->dim[1];
    a->filters = y->dim[1];
}

/* y = floor((x + 2 pad - dilation (kernel - 1) - 1) / stride) + 1 in each dimension. */
static void check_sizes(struct rp_binding *b) {
    const struct rp_kargs *a = &b->k->args;
    for (int d = 0; d < 3 && b->rc == RP_OK; d++) {
        const int64_t span =
            rp_bind_product(b, a->dilation[d], a->kernel[d] > 0 ? a->kernel[d] - 1 : 0);
        const int64_t max_shift = a->x_size[d] + 2 * a->pad[d] - span - 1;
        if (a->kernel[d] < 1 || a->stride[d] < 1 || a->dilation[d] < 1 || max_shift < 0 ||
            max_shift / a->stride[d] + 1 != a->y_size[d])
            rp_bind_fail(b, "the window's attributes do not give y's size for x's");
    }
}

static void read_window(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    read_planes(b);
    if (b->rc != RP_OK)
        return;
    window_attr(b, "kernel", 1, a->kernel);
    window_attr(b, "stride", 1, a->stride);
    window_attr(b, "pad", 0, a->pad);
}

/* Reads the optional attribute "algorithm". */
static void read_algorithm(struct rp_binding *b) {
    static const char *const names[] = {[RP_IMPLICIT_GEMM] = "implicit_gemm",
                                        [RP_IMPLICIT_PRECOMP_GEMM] =
                                            "implicit_precomp_gemm",
                                        [RP_ALGO_1] = "algo_1",
                                        [RP_DIRECT] = "direct"};
    const json_t *value = json_object_get(b->op->attrs, "algorithm");
    const char *name = json_string_value(value);
    if (value == NULL)
        return;
    for (int32_t i = RP_IMPLICIT_GEMM; name != NULL && i <= RP_DIRECT; i++)
        if (strcmp(name, names[i]) == 0) {
            b->k->args.algorithm = i;
            return;
        }
    rp_bind_fail(b, "attribute \"algorithm\" is not implicit_gemm, "
                    "implicit_precomp_gemm, algo_1 or direct");
}

void rp_bind_conv(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    const struct rp_operand *w = rp_bind_operand(b, b->kind->weight);
    read_window(b);
    if (b->rc != RP_OK)
        return;
    window_attr(b, "dilation", 1, a->dilation);
    check_sizes(b);
    read_algorithm(b);
    a->tf32 = rp_bind_tf32(b);
    a->groups = rp_bind_int(b, "groups");
    if (a->groups < 1 || a->channels % a->groups != 0 || a->filters % a->groups != 0) {
        rp_bind_fail(b, "the channels cannot be divided into %" PRId64 " groups",
                     a->groups);
        return;
    }
    const int64_t want[5] = {a->filters, a->channels / a->groups, a->kernel[0],
                             a->kernel[1], a->kernel[2]};
    bool fits = w->n_dims == b->in[0].n_dims;
    for (size_t i = 0; fits && i < w->n_dims; i++)
        fits = w->dim[i] == want[i < 2 ? i : i + 5 - w->n_dims];
    if (!fits)
        rp_bind_fail(b, "the weight is not (filters, channels of a group, kernel)");
    /* A bias has one element for each channel of the output. In transposed convolutions the
     * output is the window's x. */
    if (a->n_in > 2)
        rp_bind_count(b, 2, b->out[0].dim[1]);
}

/* Each window must contain at least one position of x. */
void rp_bind_pool(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    read_window(b);
    for (int d = 0; d < 3; d++)
        a->dilation[d] = 1;
    if (b->rc == RP_OK)
        check_sizes(b);
    for (int d = 0; d < 3; d++)
        if (a->pad[d] >= a->kernel[d])
            rp_bind_fail(b, "\"pad\" is not below \"kernel\": a window could be empty");
    if (a->channels != a->filters)
        rp_bind_fail(b, "pooling does not change the channels");
    for (int32_t i = 1; i < a->n_in; i++) /* max_pool_grad: gy, x, y */
        rp_bind_same(b, i, i == 1 ? b->kind->x : b->kind->y);
}

void rp_bind_pool_index(struct rp_binding *b) {
    const struct rp_kargs *a = &b->k->args;
    rp_bind_pool(b);
    rp_bind_same(b, RP_OUT + 1, RP_OUT);
    for (int d = 1; d < 3; d++)
        if (a->stride[d] < a->kernel[d])
            rp_bind_fail(b, "the windows overlap");
    if (a->x_size[0] * a->x_size[1] * a->x_size[2] > INT32_MAX)
        rp_bind_fail(b, "a plane is too large for an i32 index");
}

void rp_bind_avg_pool(struct rp_binding *b) {
    rp_bind_pool(b);
    b->k->args.count_pad = rp_bind_bool(b, "count_pad");
}

void rp_bind_adaptive(struct rp_binding *b) {
    read_planes(b);
    if (b->k->args.channels != b->k->args.filters)
        rp_bind_fail(b, "pooling does not change the channels");
}

/* There is one index for each element of the smaller side. */
void rp_bind_unpool(struct rp_binding *b) {
    read_planes(b);
    if (b->k->args.channels != b->k->args.filters)
        rp_bind_fail(b, "unpooling does not change the channels");
    rp_bind_same(b, 1, b->kind->y);
}
