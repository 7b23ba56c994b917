/* certificate: why no plan can be faster than a bound. File format "remat-certificate"
 * version 1 (docs/certificate.md).
 *
 * A certificate names inequalities that every plan of some class meets, and multipliers for
 * them. Here each inequality is derived from the graph alone, and what they come to is
 * summed in whole numbers: nothing of what made the certificate is used or believed.
 */
#ifndef RP_VERIFY_CHECK_CERTIFICATE_H
#define RP_VERIFY_CHECK_CERTIFICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/graph.h"
#include "model/plan.h"

enum rp_claim_kind {
    RP_CLAIM_DEP,
    RP_CLAIM_HOLD,
    RP_CLAIM_MEM,
    RP_CLAIM_WINDOW,
    RP_CLAIM_COVER
};

/* One row and its multiplier. What a kind does not use is RP_NONE or 0. */
struct rp_claim {
    enum rp_claim_kind kind;
    uint32_t item;   /* where it stands in its array of the file */
    uint32_t t;      /* its stage; window: the last one */
    uint32_t from;   /* window: its first stage */
    uint32_t op;     /* dep: the reader. mem: k. window: the reader, or RP_NONE */
    uint32_t tensor; /* dep, hold */
    uint64_t multiplier;
    /* mem, cover: pairs of a tensor and its term. window: its path. In ids.at */
    size_t first_id, n_ids;
    /* cover: triples (tensor, t, count) for S, then (op, t, count) for R, in ids.at too */
    size_t first_count, n_held, n_ran;
    uint64_t at_most; /* cover */
};
#define RP_CLAIM_NEXT (UINT32_MAX - 1) /* the term S[t+1][x]; an op r is R[t][r] */
#define RP_CLAIM_NOW UINT32_MAX        /* S[t][x] */

struct rp_certificate {
    char *graph_name, *graph_sha256;
    uint64_t budget_bytes;
    bool addressed;
    uint64_t scale_log2;     /* multipliers are over 2^scale_log2 */
    uint64_t lower_bound_ns; /* what it claims */
    bool swaps;              /* it is about plans that may swap, if they take at most */
    uint64_t swap_max_ns, host_budget_bytes; /* so long and so much of the host */
    bool has_order;
    struct {
        uint32_t *at;
        size_t n, cap;
    } order, ids, stages; /* stages: the places that end them; none: all */
    struct {
        struct rp_claim *at;
        size_t n, cap;
    } rows;
};

/* As for graphs: the caller owns `c` on RP_OK, otherwise it is empty. RP_INPUT names file,
 * place and rule. Nothing is held against a graph yet. */
rp_rc rp_certificate_load(const char *path, struct rp_certificate *c, struct rp_err *err);
rp_rc rp_certificate_parse(const char *text, size_t len, const char *file,
                           struct rp_certificate *c, struct rp_err *err);
void rp_certificate_fini(struct rp_certificate *c); /* safe on an empty or zeroed one */

struct rp_support {
    uint64_t bound_ns; /* what the rows come to; at least the sum of all op times */
    /* The bound is for all plans (without swaps, unless the certificate says so) that keep
     * the order of first runs and run nothing after the last of these; with `in_order`,
     * only for those of them whose runs between two first runs are in that order too and
     * none twice. */
    bool in_order;
    uint64_t plan_bound_ns; /* as much of it as holds for plans such as the one given */
};

/* RP_OK: every row was derived, and the certificate's claim follows from them. RP_NO: `err`
 * says why not. `g` has passed rp_graph_check; any certificate that was read will do. */
rp_rc rp_certificate_check(const struct rp_certificate *c, const struct rp_graph *g,
                           struct rp_support *s, struct rp_err *err);

/* The same, and that it is about this plan and supports claims.lower_bound_ns. `p` has
 * passed rp_verify with `g`; a bound above its time is RP_BUG. */
rp_rc rp_certificate_check_plan(const struct rp_certificate *c, const struct rp_graph *g,
                                const struct rp_plan *p, struct rp_support *s,
                                struct rp_err *err);

#endif
