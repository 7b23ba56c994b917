/* large_neighborhood: improves schedules by restricted MIPs over the whole graph.
 *
 * Annealing changes a schedule by moves of a few tensors each. Better schedules often
 * differ by a trade all over the network: many small re-runs dropped, two long chains run
 * again instead. The restricted program of neighborhood.h finds such trades, in two ways:
 *   - A descent from a schedule of a pool: the program of all ops at depths 1, 2 and 3, up
 *     to one that is too much. The fastest schedule gets one before all else.
 *     The program that is too much waits in its process, with its linear program and search
 *     tree. It goes on for the work of a try after one other step that gains nothing, then
 *     after 2, 4, ... more, and from 1 again once it has gained something. So it takes
 *     nothing from what gains, and little if it does not gain itself. Only one waits, since
 *     programs of one depth differ in little but the runs of their schedules.
 *   - Tries from the fastest schedule, at larger depths for a part of the ops: scattered
 *     ones, or blocks of consecutive ones. Descents from other schedules and the kinds of
 *     part are weighted by their success.
 *     A part grows when its program is solved to the end, and shrinks when the work limit
 *     of a try comes first.
 * (Shaw, "Using constraint programming and local search methods to solve vehicle routing
 * problems", 1998, names large-neighbourhood search. Ropke and Pisinger, "An adaptive large
 * neighborhood search heuristic for the pickup and delivery problem with time windows",
 * 2006, weight its neighbourhoods.)
 *
 * Thread safety: different states may be used by different threads, but sub_mip.h allows
 * one call at a time.
 */
#ifndef RP_SOLVE_LNS_LARGE_NEIGHBORHOOD_H
#define RP_SOLVE_LNS_LARGE_NEIGHBORHOOD_H

#include "solve/core/instance.h"
#include "solve/engine/engine.h"
#include "solve/mip/recent.h"
#include "solve/mip/solution_pool.h"
#include "solve/mip/sub_mip.h"

enum { RP_N_NEIGHBORHOODS = 5 };

/* What a search knows of its instance. A zeroed state is a new one. */
struct rp_large_neighborhood {
    uint64_t tries;    /* descents included */
    int64_t work_left; /* allotted and not used; below 0: used in advance */
    struct rp_neighborhood_kind_state {
        double weight; /* for the choice of a kind */
        double size;   /* ops that are chosen */
    } kinds[RP_N_NEIGHBORHOODS];
    struct rp_recent descended_ns; /* times of schedules that need no descent */
    struct rp_cut_off_descent {
        struct rp_sub_mip_rest rest; /* its program; none: no descent waits */
        uint32_t depth;
        uint64_t time_ns; /* of the schedule that it has come to */
        /* Steps without a gain from one return to the next, and those still to come. */
        uint32_t pause, steps_left;
    } cut_off;
};
void rp_large_neighborhood_fini(struct rp_large_neighborhood *state); /* zeroed: safe */

struct rp_large_neighborhood_options {
    enum rp_engine engine;
    uint64_t work; /* allotted by this call, in units of branch_cut.h */
    uint64_t seed;
    bool (*stop)(void *stop_arg); /* called a few times a second: true ends it */
    void *stop_arg;
};

struct rp_large_neighborhood_statistics {
    uint64_t descents;
    uint64_t tries;        /* restricted programs, those of descents included */
    uint64_t solved;       /* of these: to the end */
    uint64_t improvements; /* of these: found a faster schedule */
    uint64_t work;
    double seconds; /* of processor time of branch and cut */
};

/* Replaces schedules of `pool` by faster ones that are found from them. `p` allows no
 * swaps. Work that is too little for a try is left for the next call. Adds to *stats. */
void rp_large_neighborhood_search(const struct rp_instance *p,
                                  const struct rp_large_neighborhood_options *o,
                                  struct rp_large_neighborhood *state,
                                  struct rp_solution_pool *pool,
                                  struct rp_large_neighborhood_statistics *stats);

#endif
