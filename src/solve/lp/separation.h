/* cuts: all rows that a point of the LP violates, from every family of formulation.h,
 * sep_path.h and sep_cover.h. */
#ifndef RP_SOLVE_LP_SEPARATION_H
#define RP_SOLVE_LP_SEPARATION_H

#include "solve/lp/formulation.h"
#include "solve/lp/sep_path.h"

struct rp_separation {
    const struct rp_formulation *form;
    bool windows, covers; /* which families beside the memory rows */
    struct rp_sep_memory memory;
    struct rp_sep_path window;
    double *up;         /* the point with every positive value raised to 1 */
    double *over, *top; /* per k: row (4) over the limit at the point, and at `up` */
};
void rp_separation_init(struct rp_separation *c, const struct rp_formulation *f,
                        bool windows, bool covers);
void rp_separation_fini(struct rp_separation *c);

/* Appends the rows that point v violates: of each stage the worst memory row and the worst
 * cover, and at most n_ops windows. Returns how many. */
uint32_t rp_separation_find(struct rp_separation *c, const double *v,
                            struct rp_row_set *rows);

/* For a 0/1 point that breaks the limit by too little for the LP to tell: covers of each
 * stage's worst memory row. */
uint32_t rp_separation_exact(struct rp_separation *c, const double *v,
                             struct rp_row_set *rows);

#endif
