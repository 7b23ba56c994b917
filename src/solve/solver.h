/* solver: finds the fastest plan within a budget. The one public header of src/solve/;
 * context.h lists what its files do.
 *
 * The order of attack: the test against the floor, which is the least memory that any plan
 * needs; keep-all, if it fits; the turns of the portfolio, in which bounds run beside the
 * searches; for small graphs, a search of all step sequences; addresses; claims.
 *
 * All choices depend on the graph and the options alone, except that the deadline may end a
 * search early. Then `capped` is set, and the plan is the best that was found in time.
 *
 * rp_solve may be called from several threads at once for different graphs, if no two write
 * the same certificate. It starts a thread and child processes of its own and has ended
 * them when it returns. Quantities are bytes and nanoseconds unless a name says otherwise.
 */
#ifndef RP_SOLVE_SOLVER_H
#define RP_SOLVE_SOLVER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"
#include "model/plan.h"
#include "solve/engine/engine.h"

struct rp_statistics; /* solve/statistics.h */

struct rp_solve_options {
    uint64_t budget_bytes; /* for sources and arena together */
    bool addressed;        /* give every byte an address */
    bool recompute;        /* ops may run again */
    bool reorder;          /* first runs may come in another order; no certificate then.
                              Whether the graph leaves its order free is not looked at */
    bool swap;             /* tensors may be swapped, if the device states bandwidths */
    uint64_t host_bytes;   /* for all host copies together */
    double time_limit;     /* seconds; sets the amount of work and the deadline */
    double spent;          /* seconds of time_limit that were used before the call */
    bool ignore_clock; /* no deadline, only the work is limited (for tests, and for figures
                          that are the same everywhere) */
    /* Stop when time <= bound * (1 + gap): tested after fixed amounts of the search's work
     * (rp_context_gap_reached) and inside branch and cut (rp_node_lp_goal_ns). */
    double gap;
    bool plan_only; /* methods that do nothing but prove bounds do not run */
    /* It runs beside a search with more options, which has started those with fewer
     * (solve/background.h). */
    bool narrower;
    enum rp_engine engine; /* of linear and mixed-integer programs; it is loaded */
    uint64_t seed;
    /* A valid plan for the graph, or NULL. The search also starts from it. If it fits the
     * budget, the result is not slower than it is. */
    const struct rp_plan *start;
    /* Path of the certificate to write, or NULL. It proves the bound, or the part of it
     * that linear rows can prove. Not with `recompute` off: a certificate is about plans
     * that may recompute. */
    const char *certificate;
    const volatile sig_atomic_t *stop; /* Ctrl-C; may be NULL */
    struct rp_statistics *statistics;  /* set to what each part did; may be NULL */
};

/* What the user can do where there is no plan. */
enum rp_remedy {
    RP_LARGER_BUDGET,
    RP_COPIES,      /* sources live on the host, and nothing may be copied */
    RP_HOST_MEMORY, /* they find no room there: least_host_bytes */
};

struct rp_solve_report {
    uint64_t keep_all_bytes; /* peak without recomputation, sources included */
    uint64_t floor_bytes;    /* no plan fits in less */
    uint32_t floor_op;       /* the op that needs that much; RP_NONE: the kept tensors do */
    uint64_t min_bytes; /* RP_NO, RP_LIMIT: the smallest budget with a known plan; or 0 */
    uint64_t missing_bytes; /* by how much the first arena was too large */
    uint64_t moves;         /* of the annealing search */
    /* The start plan cannot be expressed as a schedule in the graph's order, so that the
     * search began without it. It is still a candidate for the answer. */
    bool start_left_out;
    bool capped;           /* the deadline or a signal ended a search early, or it lacked a
                              process */
    char reason[512];      /* RP_NO, RP_LIMIT: why there is no plan */
    enum rp_remedy remedy; /* likewise: what would help */
    /* RP_HOST_MEMORY: for all that must live on the host. RP_LARGER_BUDGET: with no less
     * might a plan fit, instead of with a larger budget; 0: more does not help. */
    uint64_t least_host_bytes;
};

/* Returns
 *   RP_OK     `plan` is complete but not yet verified; the caller owns it
 *   RP_NO     no plan can exist, report->reason says why
 *   RP_LIMIT  no plan was found, report->reason says why
 *   RP_INPUT  a sum passes 63 bits
 *   RP_ENV    the certificate cannot be written; or, with ignore_clock, a process or thread
 *             could not be started or was killed, so that the plan would not be the same
 * and an empty plan unless RP_OK. */
rp_rc rp_solve(const struct rp_graph *g, const struct rp_solve_options *o,
               struct rp_plan *plan, struct rp_solve_report *report, struct rp_err *err);

/* The bytes of all sources, wherever their home is. */
uint64_t rp_source_bytes(const struct rp_graph *g);

/* The peak of the un-rematerialized step in bytes on a device with room for all sources,
 * these included: the largest sum of what is live at once. With `addressed`, sizes other
 * than the sources' are rounded up to the alignment; gaps between addresses never count. */
uint64_t rp_keep_all_bytes(const struct rp_graph *g, bool addressed);

/* True if the graph has so many ops and tensors that only keep-all and o->start are tried
 * (MAX_SCHEDULE_BYTES, solve/core/params.h). */
bool rp_is_too_large_to_search(const struct rp_graph *g);

/* What the kept tensors take that an op makes: at most rp_keep_all_bytes less the sources.
 * `addressed` rounds each size up to the alignment. */
uint64_t rp_kept_bytes(const struct rp_graph *g, bool addressed);

#endif
