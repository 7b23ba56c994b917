/* cuts: all rows that a point of the LP violates, from every family of formulate.h,
 * window.h and cover.h. */
#ifndef RP_SOLVE_CUTS_H
#define RP_SOLVE_CUTS_H

#include "solve/formulate.h"
#include "solve/window.h"

struct rp_cuts {
    const struct rp_form *form;
    bool windows, covers; /* which families beside the memory rows */
    struct rp_memory memory;
    struct rp_windows window;
    double *up;         /* the point with every positive value raised to 1 */
    double *over, *top; /* per k: row (4) over the limit at the point, and at `up` */
};
void rp_cuts_init(struct rp_cuts *c, const struct rp_form *f, bool windows, bool covers);
void rp_cuts_fini(struct rp_cuts *c);

/* Appends the rows that point v violates: of each stage the worst memory row and the worst
 * cover, and at most n_ops windows. Returns how many. */
uint32_t rp_cuts_find(struct rp_cuts *c, const double *v, struct rp_rows *rows);

/* For a 0/1 point that breaks the limit by too little for the LP to tell: covers of each
 * stage's worst memory row. */
uint32_t rp_cuts_exact(struct rp_cuts *c, const double *v, struct rp_rows *rows);

#endif
