/* solve: the order of attack. Floor test, keep-all if it fits, then search and bound in
 * turns with a growing amount of work, addresses last; if these do not fit, the schedule's
 * limit is tightened by what is missing and the search goes on.
 *
 * All choices depend on the graph and the options alone. The deadline is a cap on top: when
 * it strikes, `capped` is set and the plan is the best until then.
 */
#ifndef RP_SOLVE_SOLVER_H
#define RP_SOLVE_SOLVER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"
#include "model/plan.h"
#include "solve/mip/branch_cut.h"

struct rp_solve_options {
    uint64_t budget_bytes; /* for sources and arena together */
    bool addressed;        /* give every byte an address */
    bool recompute;        /* ops may run again */
    bool reorder;          /* first runs may come in another order; no certificate then */
    bool swap;             /* tensors may be swapped, if the device states bandwidths */
    uint64_t host_bytes;   /* for all host copies together */
    double time_limit;     /* seconds; sets the amount of work, and caps the clock */
    double spent;          /* seconds of it that went before the call */
    bool ignore_clock;     /* the work limit alone counts (for tests) */
    double gap;            /* stop when time <= bound * (1 + gap) */
    uint64_t seed;
    /* A valid plan for the graph, or NULL. The search begins with it as well, and the
     * result is never slower than it is, if it fits the budget. */
    const struct rp_plan *start;
    /* Write there what proves the bound, or as much of it as linear rows can; or NULL.
     * Not with `recompute` off: a certificate is about plans that may recompute. */
    const char *certificate;
    const volatile sig_atomic_t *stop; /* Ctrl-C; may be NULL */
};

struct rp_solve_report {
    uint64_t keep_all_bytes; /* peak without recomputation, sources included */
    uint64_t floor_bytes;    /* no plan fits in less, */
    uint32_t floor_op;       /* because of this op (RP_NONE: the kept tensors) */
    uint64_t min_bytes; /* RP_NO, RP_LIMIT: the least budget that a plan was found for */
    bool capped;
    bool bound_for_all; /* claims.lower_bound_ns: of all plans, or only of those that run no
                           op twice between two first runs (schedules) */
    uint64_t moves, accepted; /* of the search */
    double search_seconds;
    struct rp_branch_cut_state tree; /* of the exact method, all 0 where it had no part */
    uint64_t missing_bytes;          /* what the packing missed at first */
    char reason[512];                /* RP_NO, RP_LIMIT: why there is no plan */
};

/* RP_OK: `plan` is complete but not yet verified; the caller owns it.
 * RP_NO: no plan can exist. RP_LIMIT: none was found. Both say why in report->reason.
 * RP_INPUT: a sum passes 63 bits. */
rp_rc rp_solve(const struct rp_graph *g, const struct rp_solve_options *o,
               struct rp_plan *plan, struct rp_solve_report *report, struct rp_err *err);

/* The peak of the un-rematerialized step in bytes, sources included. */
uint64_t rp_keep_all_bytes(const struct rp_graph *g, bool addressed);

#endif
