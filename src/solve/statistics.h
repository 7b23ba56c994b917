/* statistics: what each part of the planner did, for `solve --stats`.
 *
 * Counters are filled in by the parts themselves and depend on input and options alone;
 * seconds do not. Nothing in the planner reads them to decide anything.
 */
#ifndef RP_SOLVE_STATISTICS_H
#define RP_SOLVE_STATISTICS_H

#include <stdint.h>
#include <stdio.h>

#include "base/json_writer.h"
#include "pack/packer.h"
#include "solve/bound/pdhg_statistics.h"
#include "solve/exhaustive/astar.h"
#include "solve/lns/large_neighborhood.h"
#include "solve/local/anneal.h"
#include "solve/mip/branch_cut.h"
#include "solve/moment/moment_bound.h"
#include "solve/order/anneal_order.h"

/* The methods of the portfolio: where an incumbent or a bound can come from, and what each
 * is called in messages. */
#define RP_METHODS(X)                                                                      \
    X(RP_KEEP_ALL, "keep-all")                                                             \
    X(RP_WARM_START, "warm start")                                                         \
    X(RP_GREEDY, "greedy")                                                                 \
    X(RP_OFFLOAD_ALL, "offload-all")                                                       \
    X(RP_ANNEAL_ORDER, "order annealing")                                                  \
    X(RP_ANNEAL, "annealing")                                                              \
    X(RP_LP_ROUNDING, "LP rounding")                                                       \
    X(RP_NEIGHBORHOOD, "neighbourhoods")                                                   \
    X(RP_BRANCH_CUT, "branch and cut")                                                     \
    X(RP_PDHG, "PDHG bound")                                                               \
    X(RP_MOMENT, "moment bound")                                                           \
    X(RP_INTERVAL_MILP, "interval MILP")                                                   \
    X(RP_ASTAR, "A*")                                                                      \
    X(RP_NARROWER, "narrower search")

#define X(method, name) method,
enum rp_method { RP_METHODS(X) RP_N_METHODS };
#undef X
extern const char *const rp_method_name[RP_N_METHODS];

struct rp_method_statistics {
    uint64_t calls;
    uint64_t work;       /* done, in the method's unit (core/params.h) */
    uint64_t incumbents; /* times that its schedule became the incumbent */
    uint64_t bounds;     /* times that it raised the lower bound */
    uint64_t bound_ns;   /* the best lower bound that it proved; 0: none */
    double seconds;      /* of processor time */
};

struct rp_statistics {
    struct rp_method_statistics method[RP_N_METHODS];
    struct rp_anneal_statistics anneal; /* of all annealing runs over schedules */
    struct rp_anneal_statistics order;  /* of RP_ANNEAL_ORDER, with moves of its own */
    struct rp_large_neighborhood_statistics neighborhood;
    struct rp_branch_cut_statistics branch_cut;
    struct rp_pdhg_statistics pdhg;
    struct rp_moment_statistics moment;
    struct rp_astar_statistics astar;
    struct rp_pack_statistics pack;
    uint64_t placements;  /* schedules given to the packer */
    uint64_t tightenings; /* searches because the addresses did not fit */
    double pack_seconds;
};

/* A section for each part that did something, one line per counter. */
void rp_statistics_text(const struct rp_statistics *s, FILE *f);
/* One object: a member for each part that did something. */
void rp_statistics_json(const struct rp_statistics *s, struct rp_json_writer *w);

#endif
