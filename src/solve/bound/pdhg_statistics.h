/* pdhg_statistics: what the PDHG bound has done. Plain data. */
#ifndef RP_SOLVE_BOUND_PDHG_STATISTICS_H
#define RP_SOLVE_BOUND_PDHG_STATISTICS_H

#include <stdint.h>

struct rp_pdhg_statistics {
    uint64_t iterations;                                    /* steps of PDHG */
    uint64_t restarts;                                      /* of its averaging */
    uint64_t separations;                                   /* searches for violated rows */
    uint64_t memory_rows, cover_rows, path_rows, copy_rows; /* added */
    uint64_t dropped_rows;     /* after long without a multiplier */
    uint64_t dual_evaluations; /* of (7) in floating point */
    uint64_t proofs;           /* evaluations of (7) in integers */
    uint64_t horizon_updates;
    uint64_t refinements; /* of stages */
    uint64_t cutoffs_tried, cutoffs_proved;
    uint64_t restrictions, splits; /* of linear programs, for them */
    uint64_t work;
};
void rp_pdhg_statistics_add(struct rp_pdhg_statistics *into,
                            const struct rp_pdhg_statistics *from);

#endif
