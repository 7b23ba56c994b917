/* separation: finds rows of every family of cuts that a point of the LP violates.
 *
 * A family is one file sep_NAME.[ch] and one row of the table in separation.c. The families
 * today are memory rows (4), lifted covers (6) and path cuts (5), with the numbers of
 * formulation.h. Families with `per_stage` are called first, for each stage, then the
 * others.
 *
 * This is the separation of branch and cut. The PDHG bound calls sep_*.h itself, since its
 * points need other tolerances.
 */
#ifndef RP_SOLVE_LP_SEPARATION_H
#define RP_SOLVE_LP_SEPARATION_H

#include <stdbool.h>

#include "solve/lp/formulation.h"
#include "solve/lp/sep_memory.h"

/* One family. `find` appends to `rows` and returns how many rows it has appended. It adds
 * to *terms how many terms it looked at, which counts as work. Rows that are none of (2) to
 * (6) have the kind RP_ROW_OTHER. */
struct rp_cut_family {
    const char *name;
    bool per_stage; /* `find` is called for t = 0, 1, ..; else once, with t = n_stages */
    void *(*create)(const struct rp_formulation *f); /* what `find` works with */
    void (*destroy)(void *state);
    uint32_t (*find)(void *state, uint32_t t, const double *v, struct rp_row_set *rows,
                     uint64_t *terms);
};

#define RP_MAX_CUT_FAMILIES 8

/* The name of family k; NULL if there are no more than k. */
const char *rp_cut_family_name(uint32_t k);

/* Sums over calls. */
struct rp_separation_statistics {
    uint64_t found[RP_MAX_CUT_FAMILIES]; /* rows of each family */
    uint64_t exact_covers;               /* rows of rp_separation_exact */
    uint64_t terms;                      /* looked at by all families */
};
void rp_separation_statistics_add(struct rp_separation_statistics *into,
                                  const struct rp_separation_statistics *from);

/* Working memory for one formulation. Not thread-safe: one for each thread. */
struct rp_separation {
    const struct rp_formulation *formulation; /* borrowed */
    void *state[RP_MAX_CUT_FAMILIES];         /* NULL: the family is left out */
    struct rp_sep_memory memory; /* for rp_separation_exact, and for the caller */
    double *over;                /* per k: how far row (4) is above the limit */
};

/* Bit k of `skip` leaves family k out; 0 for all of them. */
void rp_separation_init(struct rp_separation *s, const struct rp_formulation *f,
                        uint32_t skip);
void rp_separation_fini(struct rp_separation *s); /* safe on a zeroed one */

/* Appends the rows that point v violates, and returns how many. */
uint32_t rp_separation_find(struct rp_separation *s, const double *v,
                            struct rp_row_set *rows,
                            struct rp_separation_statistics *stats);

/* The same for a 0/1 point that exceeds the limit by so little that the LP takes it for
 * feasible: rounds v, and appends a cover of each stage's most violated memory row. */
uint32_t rp_separation_exact(struct rp_separation *s, double *v, struct rp_row_set *rows,
                             struct rp_separation_statistics *stats);

#endif
