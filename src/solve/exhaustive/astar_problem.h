/* astar_problem: what A* (astar.h) looks up of a graph at every state, and its lower bound.
 * Internal to this folder.
 *
 * Sets of tensors and of ops are 64-bit words. n_first says how many first runs are over:
 * those of ops 0 .. n_first - 1.
 *
 * Const once it is made and rest_ns is known.
 */
#ifndef RP_SOLVE_EXHAUSTIVE_ASTAR_PROBLEM_H
#define RP_SOLVE_EXHAUSTIVE_ASTAR_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/exhaustive/astar.h"
#include "solve/exhaustive/astar_states.h"

/* A choice of the sources that live on the host. */
struct rp_astar_homes {
    uint64_t stays; /* set of tensors: all versions of the other sources that might. They
                       are never in a state's `device` or `host` */
    uint64_t device_bytes, host_bytes; /* taken for the whole step: there, and here */
};

struct rp_astar_problem {
    const struct rp_instance *p;          /* borrowed */
    uint32_t n_ops;                       /* without `end`: the end of the step reads */
    uint64_t bytes[RP_ASTAR_MAX_TENSORS]; /* 0 for small tensors */
    uint64_t small; /* set of tensors that count as none: they are never copied, and freed
                       only when nothing can need them any more */
    /* Per op: sets of tensors. in[n_ops]: what is kept at the end. */
    uint64_t in[RP_ASTAR_MAX_OPS + 1], out[RP_ASTAR_MAX_OPS];
    uint64_t readers[RP_ASTAR_MAX_TENSORS]; /* sets of ops */
    uint64_t pinned, shadows; /* sets of tensors: never freed; not rewritten in place */
    /* Sets of tensors: versions of sources that may live on the host; the last ones, if an
     * op makes them; and per op, those that it replaces. */
    uint64_t versions, must_copy_out, replaced[RP_ASTAR_MAX_OPS];
    /* Those that memory has room for. Without such sources there is one. */
    uint32_t n_homes;
    struct rp_astar_homes homes[RP_ASTAR_MAX_HOMES];
    /* Per n_first: what the first runs that are left take; which tensors have been made;
     * which ones can still be of use; and the ops that can. */
    uint64_t remaining_ns[RP_ASTAR_MAX_OPS + 1], made[RP_ASTAR_MAX_OPS + 1],
        wanted[RP_ASTAR_MAX_OPS + 1], useful[RP_ASTAR_MAX_OPS + 1];
    /* Per t: every plan that is of interest takes as much after the first run of op t - 1,
     * beside the first runs that are left. 0 at first, and for t = 0. */
    uint64_t rest_ns[RP_ASTAR_MAX_OPS + 2];
};

/* Ops without `end`. */
static inline uint32_t rp_astar_ops(const struct rp_instance *p) {
    return p->n_ops - p->has_end;
}

/* How many choices of the sources that live on the host there are, at most;
 * RP_ASTAR_MAX_HOMES + 1 or more: too many. */
uint32_t rp_astar_count_homes(const struct rp_instance *p);

void rp_astar_problem_init(struct rp_astar_problem *q, const struct rp_instance *p,
                           uint64_t small);

/* What ops can read: all that is on the device. */
static inline uint64_t rp_astar_there(const struct rp_astar_problem *q,
                                      const struct rp_astar_state *s) {
    return s->device | q->homes[s->homes].stays;
}

/* The tensors on the device that may not be freed: what is pinned, and what must go to the
 * host first. */
static inline uint64_t rp_astar_unfreeable(const struct rp_astar_problem *q,
                                           const struct rp_astar_state *s) {
    return q->pinned | (q->versions & ~s->host);
}

/* The last versions of sources that still have to be copied to their home. */
static inline uint64_t rp_astar_not_home(const struct rp_astar_problem *q,
                                         const struct rp_astar_state *s) {
    return q->must_copy_out & ~s->host & ~q->homes[s->homes].stays;
}

/* By how much an op's run with these tensors on the device exceeds the limit, if tensors
 * take these bytes. What cannot be rewritten takes its bytes twice, and what is replaced
 * lies where it lay. */
uint64_t rp_astar_excess_to_run(const struct rp_astar_problem *q, uint32_t homes,
                                const uint64_t *bytes, uint64_t device, uint32_t j);
/* The same without a run. */
uint64_t rp_astar_excess(const struct rp_astar_problem *q, uint32_t homes,
                         const uint64_t *bytes, uint64_t device);

/* A lower bound of the time of a plan that goes on from s; UINT64_MAX if none can.
 *
 * The first run of op u, and the end, wait for what they read. What of that is not there,
 * and on the host neither, has to be made again, from what is there or has to be made
 * again too. Each tensor has an earliest time, by a run or by a copy in. Once op u has run
 * for the first time, what every program takes after that is still to come (rest_ns). What
 * has to be copied to its home follows all other copies out. */
uint64_t rp_astar_min_time(const struct rp_astar_problem *q, const struct rp_astar_state *s,
                           const struct rp_astar_ends *ends);

/* The tensors on the device that are of no more use: nothing can need them, or they can
 * only serve to make a tensor again that is there and no larger. A plan that frees that one
 * can as well free them, and does not have to make it again. */
uint64_t rp_astar_unwanted(const struct rp_astar_problem *q, const struct rp_astar_state *s,
                           const struct rp_astar_ends *ends);

#endif
