/* large_neighborhood: improves a schedule by restricted MIPs over the whole graph.
 *
 * Annealing changes a schedule by moves of a few tensors each. Better schedules often
 * differ by a trade all over the network: many small re-runs dropped, two long chains run
 * again instead. The restricted program of neighborhood.h finds such trades. It is tried
 * with all ops at small depths. Then come parts of the ops at larger depths: scattered ones
 * and blocks of consecutive ones. (Shaw, "Using constraint programming and local search
 * methods to solve vehicle routing problems", 1998, calls this large-neighbourhood search.
 * Ropke and Pisinger, "An adaptive large neighborhood search heuristic for the pickup and
 * delivery problem with time windows", 2006, weight the kinds of neighbourhood by their
 * success.)
 *
 * Each kind adapts its size: it grows when its program is solved to the end, and shrinks
 * when the work limit of a try comes first.
 *
 * Thread safety: different states may be used by different threads, but sub_mip.h allows
 * one call at a time.
 */
#ifndef RP_SOLVE_LNS_LARGE_NEIGHBORHOOD_H
#define RP_SOLVE_LNS_LARGE_NEIGHBORHOOD_H

#include "solve/core/instance.h"
#include "solve/core/schedule.h"
#include "solve/engine/engine.h"

enum { RP_N_NEIGHBORHOODS = 7 };

/* What one search knows of its kinds of neighbourhood. A zeroed state is a new one. */
struct rp_large_neighborhood {
    uint64_t tries;
    int64_t work_left; /* allotted and not used; below 0: used in advance */
    struct rp_neighborhood_kind_state {
        double weight;    /* for the choice of a kind */
        double size;      /* ops that are chosen */
        uint64_t seen_ns; /* of all ops: the time of the schedule of its last try */
    } kinds[RP_N_NEIGHBORHOODS];
};

struct rp_large_neighborhood_options {
    enum rp_engine engine;
    uint64_t work; /* allotted by this call, in units of branch_cut.h */
    uint64_t seed;
    bool (*stop)(void *stop_arg); /* called a few times a second: true ends it */
    void *stop_arg;
};

struct rp_large_neighborhood_statistics {
    uint64_t tries;
    uint64_t solved;       /* of these: to the end */
    uint64_t improvements; /* of these: found a faster schedule */
    uint64_t saved_ns;     /* by all improvements together */
    uint64_t work;
    double seconds; /* of processor time of branch and cut */
};

/* Replaces `s`, which is sound, fits and swaps nothing, by faster schedules. Work that is
 * too little for a try is left for the next call. Adds to *stats. */
void rp_large_neighborhood_search(const struct rp_instance *p,
                                  const struct rp_large_neighborhood_options *o,
                                  struct rp_large_neighborhood *state,
                                  struct rp_schedule *s,
                                  struct rp_large_neighborhood_statistics *stats);

#endif
