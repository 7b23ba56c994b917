/* kernel: an op of a graph, ready to run. Binding reads kind, attributes, shapes and dtypes
 * once and checks them. Running is then a call of a plain function with plain numbers.
 *
 *     struct rp_kernel k;
 *     rp_kernel_bind(g, op, RP_BIND_GRAPH, file, &k, err);
 *     rp_kernel_run(&k, in, out);           as often as the plan says
 *     rp_kernel_fini(&k);
 *
 * An emitted program does not bind. It contains the parameters as C (args_literal.h) and
 * calls rp_ref_NAME_TYPE (ref.h) with them.
 *
 * Thread-safe: a bound kernel does not change, so many threads may run it at the same time.
 */
#ifndef RP_KERNELS_KERNEL_H
#define RP_KERNELS_KERNEL_H

#include "base/status.h"
#include "kernels/fill.h"
#include "kernels/kargs.h"
#include "model/graph.h"

enum rp_bind {
    RP_BIND_GRAPH, /* types as in the graph */
    RP_BIND_F64    /* every real number is f64: for tests, which pass larger buffers */
};

struct rp_kernel {
    const char *name; /* NAME in ref.h, such as "conv_grad_input" */
    enum rp_real real;
    rp_kernel_fn *run;
    struct rp_kargs args;
    int64_t *parts; /* args.parts, owned; NULL if there are none */
};

/* RP_INPUT: "FILE: ops[17] "relu_3": rule", for a kind without a kernel, an attribute that
 * is missing or invalid, or operands that do not fit the kind in number, dtype or shape.
 * `file` is g's name in messages. The caller owns `k` on RP_OK; it is empty otherwise. */
rp_rc rp_kernel_bind(const struct rp_graph *g, uint32_t op, enum rp_bind how,
                     const char *file, struct rp_kernel *k, struct rp_err *err);
void rp_kernel_run(const struct rp_kernel *k, const void *const *in, void *const *out);
void rp_kernel_fini(struct rp_kernel *k); /* safe on an empty or zeroed one, and twice */

/* "f32", "f16", "bf16", "f64": the TYPE in the function's name. */
extern const char *const rp_real_word[RP_N_REALS];

#endif
