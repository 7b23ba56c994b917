/* astar_states: the states that A* (astar.h) has come to, and which of them are worth going
 * on from. Internal to this folder.
 *
 * A set of tensors is a 64-bit word. Times count from the start of the plan, in ns.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_EXHAUSTIVE_ASTAR_STATES_H
#define RP_SOLVE_EXHAUSTIVE_ASTAR_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/plan.h"
#include "solve/exhaustive/astar.h"

/* A plan between two steps. Copies that ended before the clock have no effect any more. */
struct rp_astar_state {
    uint64_t clock_ns;       /* the end of the compute queue */
    uint64_t moment_ns;      /* its end after the latest first run */
    uint64_t d2h_ns, h2d_ns; /* the ends of the copy queues */
    uint64_t device, host;   /* sets of tensors */
    uint64_t copyable;       /* set of tensors: copies out may begin now */
    uint32_t n_first;        /* ops 0 .. n_first - 1 have run */
    uint32_t homes;          /* which sources live on the host: of rp_astar_problem.homes */
};

/* When the latest copies of each tensor end. Those of the past may have any earlier time.
 */
struct rp_astar_ends {
    uint64_t ready_ns[RP_ASTAR_MAX_TENSORS];      /* of those on the device */
    uint64_t host_ready_ns[RP_ASTAR_MAX_TENSORS]; /* of those with a host copy */
};

/* What led from one node to the next. */
struct rp_astar_step {
    uint32_t parent; /* node; RP_NONE: this is the first one */
    enum rp_step_kind kind;
    uint32_t id;
    uint64_t freed, dropped; /* sets of tensors: freed before the step, and after it */
};

struct rp_astar_node {
    struct rp_astar_state s;
    uint64_t min_ns;            /* of any plan that continues from here */
    uint32_t first_end, n_ends; /* its part of `end` */
    struct rp_astar_step by;
    bool dominated;
};

/* A copy that ends after the clock of its node. */
struct rp_astar_end {
    uint64_t ns;
    uint8_t tensor;
    bool host; /* out */
};

/* What most comparisons of a node need. */
struct rp_astar_key {
    uint64_t host;                               /* set of tensors */
    uint64_t clock_ns, d2h_free_ns, h2d_free_ns; /* when each queue takes something new */
    uint32_t node;
};

/* Nodes that may dominate each other: they have the same homes, the same on the device, the
 * same first runs and, unless the host is free, the same on the host. */
struct rp_astar_bucket {
    uint64_t device, host; /* host: 0 if it is free */
    uint32_t n_first, homes;
    uint32_t next;                   /* bucket with the same hash; RP_NONE: none */
    RP_VEC(struct rp_astar_key) key; /* not dominated; the newest last */
};

struct rp_astar_states {
    uint32_t max_nodes, n_nodes, n_table;
    bool host_is_free; /* more on the host never hurts */
    struct rp_astar_node *node;
    RP_VEC(struct rp_astar_bucket) bucket;
    uint32_t *table; /* per hash: the newest bucket */
    RP_VEC(struct rp_astar_end) end;
    uint64_t compared; /* pairs of states */
};

void rp_astar_states_init(struct rp_astar_states *k, uint32_t max_nodes, bool host_is_free);
void rp_astar_states_fini(struct rp_astar_states *k);

/* Adds a state as the node n_nodes, for which there is room, unless a known one dominates
 * it: one that is nowhere later and has the same on the device, and the same or, if the
 * host is free, more on the host. Those that it dominates are marked. False: it was not
 * added. */
bool rp_astar_states_add(struct rp_astar_states *k, const struct rp_astar_state *s,
                         const struct rp_astar_ends *ends, uint64_t min_ns,
                         struct rp_astar_step by);

/* When the copies of a node end. */
void rp_astar_states_ends(const struct rp_astar_states *k, uint32_t node,
                          struct rp_astar_ends *ends);

/* The set of k alone. */
static inline uint64_t rp_astar_bit(uint32_t k) {
    return UINT64_C(1) << k;
}

static inline bool rp_astar_has(uint64_t set, uint32_t k) {
    return (set >> k & 1) != 0;
}

/* Removes the first tensor from a set that is not empty, and returns it. */
static inline uint32_t rp_astar_take(uint64_t *set) {
    uint32_t x = (uint32_t)__builtin_ctzll(*set);
    *set &= *set - 1;
    return x;
}

static inline uint64_t rp_astar_bytes(const uint64_t *bytes, uint64_t set) {
    uint64_t sum = 0;
    while (set != 0)
        sum += bytes[rp_astar_take(&set)];
    return sum;
}

#endif
