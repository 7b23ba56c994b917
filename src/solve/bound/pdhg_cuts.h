/* pdhg_cuts: the memory rows (4), path cuts (5), covers (6) and rows about copies (8) to
 * (10) of the PDHG bound. Rows that its points violate are added, rows that have long been
 * without a multiplier are dropped.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_BOUND_PDHG_CUTS_H
#define RP_SOLVE_BOUND_PDHG_CUTS_H

#include "base/mem.h"
#include "solve/bound/sep_copy.h"
#include "solve/lp/sep_memory.h"

struct rp_pdhg_cuts {
    const struct rp_formulation *formulation; /* borrowed */
    struct rp_row_set rows;
    RP_VEC(uint32_t) idle; /* per row: separations since it had a multiplier */
    struct rp_sep_memory memory;
    struct rp_sep_copy copies; /* zeroed if the formulation has no columns for it */
    double *point;             /* PDHG's, in doubles, at the last separation */
    double path_work;          /* of all searches for path cuts, in terms touched */
    double copy_work;          /* the same for rows (9) and (10) */
    uint32_t n_additions;      /* calls of rp_pdhg_cuts_add */
    /* In all. */
    uint64_t memory_rows, path_rows, cover_rows, copy_rows, dropped_rows;
};

/* Starts with one memory row for each stage, and rows (8). `f` must outlive it. */
void rp_pdhg_cuts_init(struct rp_pdhg_cuts *c, const struct rp_formulation *f);
/* The last n of the rows have been appended by its owner, from another formulation's, where
 * they were violated. Points near those are good enough to look for rows of all kinds. */
void rp_pdhg_cuts_adopt(struct rp_pdhg_cuts *c, uint32_t n);
void rp_pdhg_cuts_fini(struct rp_pdhg_cuts *c); /* safe on a zeroed one */

/* Each of the next two drops rows, moves the multipliers y (one per row) of those that
 * stay, and zeroes the rest of y. Returns how many rows it has dropped. */
uint32_t rp_pdhg_cuts_drop_idle(struct rp_pdhg_cuts *c, float *y);
uint32_t rp_pdhg_cuts_drop_covers(struct rp_pdhg_cuts *c, float *y);

/* Gives columns E and W the formulation's unit, in all rows. */
void rp_pdhg_cuts_set_slack(struct rp_pdhg_cuts *c);

/* Adds rows that point x violates: of each stage the most violated memory row and a cover
 * of it, path cuts, and rows (9) and (10). At most four rows per stage and n_ops path cuts.
 * step_work: the work of all steps of PDHG so far, in terms touched; path cuts may take a
 * share of it, until `stop` (which may be NULL). Returns how many rows it has added. */
uint32_t rp_pdhg_cuts_add(struct rp_pdhg_cuts *c, const float *x, uint64_t step_work,
                          struct rp_stop *stop);

#endif
