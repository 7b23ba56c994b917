/* kernel: an op of a graph made ready to run. Binding reads kind, attributes, shapes and
 * dtypes once and checks them; running is a call of a plain function with plain numbers.
 *
 *     struct rp_kernel k;
 *     rp_kernel_bind(g, op, RP_BIND_GRAPH, &k, err);
 *     rp_kernel_run(&k, in, out);           as often as the plan says
 *     rp_kernel_fini(&k);
 *
 * An emitted program skips binding: rp_kernel_put_args writes k.args as C, and the program
 * calls rp_ref_NAME_REAL (ref.h) with it.
 */
#ifndef RP_KERNELS_KERNEL_H
#define RP_KERNELS_KERNEL_H

#include <stdio.h>

#include "base/status.h"
#include "kernels/fill.h"
#include "kernels/kargs.h"
#include "model/graph.h"

enum rp_bind {
    RP_BIND_GRAPH, /* types as the graph says */
    RP_BIND_F64    /* every real number is f64: for tests; buffers must be that large */
};

struct rp_kernel {
    const char *name; /* NAME in ref.h, such as "conv_grad_input" */
    enum rp_real real;
    rp_kernel_fn *run;
    struct rp_kargs args;
    int64_t *parts; /* args.parts, owned; NULL if there are none */
};

/* RP_INPUT: "FILE: ops[17] "relu_3": rule": a kind without a kernel, an attribute that is
 * missing or no number, operands whose number, dtypes or shapes do not fit the kind. `file`
 * is g's name in messages. The caller owns `k` on RP_OK; it is empty otherwise. */
rp_rc rp_kernel_bind(const struct rp_graph *g, uint32_t op, enum rp_bind how,
                     const char *file, struct rp_kernel *k, struct rp_err *err);
void rp_kernel_run(const struct rp_kernel *k, const void *const *in, void *const *out);
void rp_kernel_fini(struct rp_kernel *k); /* safe on an empty or zeroed one, and twice */

/* "f32", "f16", "f64": the end of the function's name. */
extern const char *const rp_real_word[3];

/* Writes k's parameters as C that is C++20 too:
 *
 *     static const int64_t NAME_parts[] = {...};       (if it has parts)
 *     static const struct rp_kargs NAME = {.n_in = 2, ...};
 */
void rp_kernel_put_args(FILE *f, const struct rp_kernel *k, const char *name);

/* How source x of the graph is filled before the step: seed x; labels and ids within their
 * range; weights by their fan-in, so that activations keep their size from layer to layer;
 * scales and variances in [0.5, 1.5). RP_INPUT if x has no shape or an unknown dtype. */
rp_rc rp_kernel_fill(const struct rp_graph *g, uint32_t x, enum rp_bind how,
                     const char *file, struct rp_fill *fill, struct rp_err *err);

#endif
