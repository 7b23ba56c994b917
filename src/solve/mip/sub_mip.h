/* sub_mip: solves what is left open of a formulation, by branch and cut in a process of its
 * own (worker.h).
 *
 * Not thread-safe: one call at a time.
 */
#ifndef RP_SOLVE_MIP_SUB_MIP_H
#define RP_SOLVE_MIP_SUB_MIP_H

#include "solve/engine/engine.h"
#include "solve/lp/formulation.h"
#include "solve/mip/branch_cut.h"
#include "solve/mip/worker.h"

struct rp_sub_mip {
    const struct rp_formulation *base; /* borrowed */
    const uint8_t *known;              /* as in rp_formulation_options; borrowed */
    enum rp_engine engine;             /* of the linear programs */
    uint64_t work;                     /* limit, in units of branch_cut.h */
    bool (*stop)(void *stop_arg);      /* called a few times a second: true ends it */
    void *stop_arg;
    /* What goes on if it holds a program, and gets the program if the limit comes before
     * its end. NULL: it is given up then. */
    struct rp_sub_mip_rest *rest;
};

/* A program that was cut off: its process waits with its linear program and search tree.
 * A zeroed one holds none. */
struct rp_sub_mip_rest {
    struct rp_mip_worker *worker;
    uint64_t work; /* of branch and cut so far */
    double seconds;
};
void rp_sub_mip_give_up(struct rp_sub_mip_rest *rest); /* safe on a zeroed one */

struct rp_sub_mip_result {
    bool improved;    /* a faster schedule was found */
    bool solved;      /* no schedule of the open columns is faster than the result */
    uint64_t time_ns; /* of the faster schedule */
    uint64_t work;    /* of this call; for a new program at least rp_sub_mip_least_work */
    double seconds;   /* of processor time. For reports only */
};

/* What a program costs before branch and cut begins: a process, and the columns of `base`.
 */
uint64_t rp_sub_mip_least_work(const struct rp_formulation *base);

/* Looks for a schedule that is faster than `s`, which is sound and fits, and replaces it.
 * A program that goes on was made around another schedule; base and known do not matter.
 * Nothing is found if the system cannot start a process, or once stop() is true. */
struct rp_sub_mip_result rp_sub_mip_solve(const struct rp_sub_mip *m,
                                          struct rp_schedule *s);

#endif
