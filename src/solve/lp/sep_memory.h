/* sep_memory: makes memory rows (4) of formulation.h, those that a point violates or any
 * other.
 *
 * Memory rows belong to every solver of the formulation, so besides being a family of cuts
 * (separation.h) they can be made one by one.
 */
#ifndef RP_SOLVE_LP_SEP_MEMORY_H
#define RP_SOLVE_LP_SEP_MEMORY_H

#include "solve/lp/formulation.h"

/* Working memory for one formulation. Not thread-safe: one for each thread. */
struct rp_sep_memory {
    const struct rp_formulation *formulation; /* borrowed */
    bool shadows;                             /* rows at a point have the terms (4d) */
    double *need;     /* per tensor: largest term (4a), (4b) so far */
    uint32_t *unseen; /* per tensor: readers < k that may run in the stage */
    double *live;     /* per tensor: its L in the sweep */
    double *sum;      /* per column: coefficient in the row being made; zero between rows */
    uint32_t *used;   /* columns that have a coefficient */
};
/* `shadows`: rows at a point get the terms (4d). Certificates cannot hold these. */
void rp_sep_memory_init(struct rp_sep_memory *m, const struct rp_formulation *f,
                        bool shadows);
void rp_sep_memory_fini(struct rp_sep_memory *m); /* safe on a zeroed one */

/* Finds the most violated row (4) of each k <= t at point v: over[k] = left side - limit,
 * in scaled bytes. If stages have several ops, only over[last_op[t]] is set. O(tensors +
 * edges) for all k together. */
void rp_sep_memory_sweep(struct rp_sep_memory *m, uint32_t t, const double *v,
                         double *over);

/* Appends that row for (t, k) to `rows`. With v == NULL it prefers constants, then
 * S[t+1][x], then S[t][x], which makes a useful first row. */
void rp_sep_memory_row(struct rp_sep_memory *m, uint32_t t, uint32_t k, const double *v,
                       struct rp_row_set *rows);

/* The k whose row is violated most, from a sweep of stage t. If two are nearly the same, it
 * is the stage's own op, or else the earlier one. */
uint32_t rp_sep_memory_worst(const struct rp_formulation *f, uint32_t t,
                             const double *over);

/* Branch and cut's family (separation.h): of each stage the most violated row. */
struct rp_cut_family;
extern const struct rp_cut_family rp_sep_memory_family;

#endif
