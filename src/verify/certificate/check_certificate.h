/* check_certificate: why no plan can be faster than a bound. File format
 * "remat-certificate" version 1 (docs/certificate.md).
 *
 * A certificate names inequalities that every plan of some class meets, and a multiplier
 * for each. The check derives every inequality from the graph alone and sums them in whole
 * numbers (weak duality). It shares no code with what made the certificate.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_VERIFY_CHECK_CERTIFICATE_H
#define RP_VERIFY_CHECK_CERTIFICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/status.h"
#include "model/graph.h"

enum rp_certificate_row_kind {
    RP_CERTIFICATE_DEP,
    RP_CERTIFICATE_HOLD,
    RP_CERTIFICATE_MEM,
    RP_CERTIFICATE_WINDOW, /* a path of tensors over several stages */
    RP_CERTIFICATE_COVER,
    RP_CERTIFICATE_EXTRA, /* the time of a stage */
    RP_CERTIFICATE_COPY   /* what can be copied between two ops */
};

/* One inequality and its multiplier. Members that a kind does not use are RP_NONE or 0. */
struct rp_certificate_row {
    enum rp_certificate_row_kind kind;
    uint32_t item; /* index in its array of the file */
    uint32_t t;    /* its stage; window: the last one */
    uint32_t from; /* window: its first stage */
    /* dep: the reader. mem: k. window: the reader, or RP_NONE. copy: where it ends (`in`)
     * or begins. */
    uint32_t op;
    bool in;         /* copy: copies in */
    uint32_t tensor; /* dep, hold */
    uint64_t multiplier;
    uint64_t length_ns; /* copy: what it is rounded by, or 0 */
    /* In ids.at. mem, cover: pairs of a tensor and its term. window: its path. copy:
     * tensors that are turned. */
    size_t first_id, n_ids;
    /* In ids.at. cover: triples (tensor, t, count) for S, then (op, t, count) for R. */
    size_t first_count, n_held, n_ran;
    uint64_t max_count; /* cover: "at_most" in the file */
};
/* The term of a tensor x in a memory row: one of these, or an op r for R[t][r]. */
#define RP_CERTIFICATE_NEXT (UINT32_MAX - 1) /* S[t+1][x] */
#define RP_CERTIFICATE_NOW UINT32_MAX        /* S[t][x] */

struct rp_certificate {
    char *graph_name, *graph_sha256;
    uint64_t budget_bytes;
    bool addressed;
    uint64_t scale_log2;        /* multipliers are in units of 2^-scale_log2 */
    uint64_t lower_bound_ns;    /* the bound that it claims */
    bool swaps;                 /* it is about plans that may swap */
    uint64_t swap_max_ns;       /* with swaps: only about plans that take no longer */
    uint64_t host_budget_bytes; /* with swaps: only if host copies take no more */
    bool has_order;
    RP_VEC(uint32_t) order;  /* all ops in the order of their first runs, if has_order */
    RP_VEC(uint32_t) stages; /* positions that end a stage; empty: every position does */
    RP_VEC(uint32_t) ids;    /* what the rows refer to */
    RP_VEC(struct rp_certificate_row) rows;
};

/* The caller owns `c` on RP_OK; otherwise it is empty. RP_INPUT: "file: place: rule".
 * Nothing is compared with a graph yet. */
rp_rc rp_certificate_load(const char *path, struct rp_certificate *c, struct rp_err *err);
rp_rc rp_certificate_parse(const char *text, size_t len, const char *file,
                           struct rp_certificate *c, struct rp_err *err);
void rp_certificate_fini(struct rp_certificate *c); /* safe on an empty or zeroed one */

struct rp_certified_bound {
    uint64_t bound_ns; /* what the rows prove; at least the sum of all op times */
    /* The bound is for all plans that keep the order of first runs, run nothing after the
     * last of these, and do not swap unless the certificate has swaps. With `in_order` it
     * is only for those whose runs between two first runs are in that order too, none
     * twice. */
    bool in_order;
    bool for_plan;           /* rp_certificate_check_plan: the plan is one of them */
    uint64_t claim_bound_ns; /* of all plans that a plan's claim is about */
};

/* RP_OK: every row was derived, and the certificate's claim follows from them. RP_NO: `err`
 * says why not. `g` has passed rp_graph_check. `c` may be any certificate that
 * rp_certificate_parse accepts. */
rp_rc rp_certificate_check(const struct rp_certificate *c, const struct rp_graph *g,
                           struct rp_certified_bound *b, struct rp_err *err);

#endif
