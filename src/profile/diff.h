/* compare: how far two graphs' times are apart, per op and per kind of op. The graphs are
 * of one step: the same ops by name and kind; one of them may come from a device model, the
 * other from a measurement. */
#ifndef RP_PROFILE_DIFF_H
#define RP_PROFILE_DIFF_H

#include "model/graph.h"

struct rp_kind_difference {
    const char *kind; /* graph a's */
    uint32_t n_ops;
    uint64_t a_ns, b_ns;
    uint64_t off_ns; /* sum over ops of |a - b|: what cancels in the sums does not here */
    uint32_t worst;  /* op of a whose |a - b| is largest */
    uint64_t worst_ns;
};

struct rp_comparison {
    struct rp_kind_difference *kinds; /* by off_ns, largest first */
    uint32_t n_kinds;
    struct rp_kind_difference all; /* kind NULL */
    uint32_t *op_of_b;             /* per op of a */
};

/* RP_INPUT names ops that only one of them has, and ops whose kinds differ. The caller owns
 * `c` on RP_OK; it refers to `a`. */
rp_rc rp_compare(const struct rp_graph *a, const char *a_file, const struct rp_graph *b,
                 const char *b_file, struct rp_comparison *c, struct rp_err *err);
void rp_comparison_fini(struct rp_comparison *c);

#endif
