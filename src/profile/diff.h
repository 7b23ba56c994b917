/* diff: how much the op times of two graphs differ, per op and per kind of op. Both graphs
 * describe the same step: they have ops with the same names and kinds. Typically one has
 * times from a device model, the other from a measurement.
 *
 * Thread-safe for different results.
 */
#ifndef RP_PROFILE_DIFF_H
#define RP_PROFILE_DIFF_H

#include "model/graph.h"

struct rp_kind_diff {
    const char *kind; /* of graph a */
    uint32_t n_ops;
    uint64_t a_ns, b_ns;
    uint64_t off_ns; /* sum over ops of |a - b|, so that differences do not cancel */
    uint32_t worst;  /* op of a with the largest |a - b| */
    uint64_t worst_ns;
};

struct rp_profile_diff {
    struct rp_kind_diff *kinds; /* by off_ns, largest first */
    uint32_t n_kinds;
    struct rp_kind_diff all; /* kind NULL */
    uint32_t *op_of_b;       /* per op of a */
};

/* RP_INPUT names an op that only one graph has, or whose kinds differ. The caller owns `d`
 * on RP_OK, and it is empty otherwise. It refers to the names of `a`. */
rp_rc rp_profile_diff_build(const struct rp_graph *a, const char *a_file,
                            const struct rp_graph *b, const char *b_file,
                            struct rp_profile_diff *d, struct rp_err *err);
void rp_profile_diff_fini(struct rp_profile_diff *d); /* safe on an empty or zeroed one */

#endif
