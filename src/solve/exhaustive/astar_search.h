/* astar_search: one search of A* (astar.h), of the whole step or of a window. Internal to
 * this folder.
 *
 * A window has op t - 1 and all that follows it. It begins with all that has been made on
 * the device, more than there is room for, and on the host too. What is too much is freed
 * for op t - 1, which then runs first. So every plan comes to a state after this op that
 * has no more there and is no earlier, and from it on takes no less than the window does
 * from there.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_EXHAUSTIVE_ASTAR_SEARCH_H
#define RP_SOLVE_EXHAUSTIVE_ASTAR_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/stop.h"
#include "solve/exhaustive/astar_problem.h"
#include "solve/exhaustive/astar_states.h"

struct rp_astar_search {
    const struct rp_astar_problem *q; /* borrowed */
    const struct rp_astar_options *o; /* borrowed */
    uint64_t below_ns;                /* of the window or of the whole step */
    uint64_t host_limit_bytes;
    struct rp_astar_states k;
    RP_VEC(uint32_t) open;   /* a heap of nodes */
    uint64_t work, max_work; /* states compared and sets tried */
    uint64_t bound_ns;       /* no plan, or window, takes less; at most below_ns */
    struct rp_astar_statistics statistics;
};

/* Looks for the fastest plan, with max_states in place of those of the options. Both
 * must outlive the search. Returns the node that the plan ends with, and RP_NONE if it was
 * not found. */
uint32_t rp_astar_search_run(struct rp_astar_search *f, const struct rp_astar_problem *q,
                             const struct rp_astar_options *o, uint32_t max_states);
/* The same for the window of op t - 1, 0 < t, if the ops before it can take less than
 * o->below_ns. Its times count from before that op. */
void rp_astar_search_window(struct rp_astar_search *f, const struct rp_astar_problem *q,
                            const struct rp_astar_options *o, uint32_t t,
                            uint32_t max_states);
void rp_astar_search_fini(struct rp_astar_search *f);

#endif
