/* astar_open: the open nodes of one search of A* (astar_search.h), and the work that it has
 * done. Internal to this folder.
 *
 * Open nodes wait in columns, one for each number of first runs.
 *
 * Work counts in comparisons of two states, which take about 4 ns.
 */
#ifndef RP_SOLVE_EXHAUSTIVE_ASTAR_OPEN_H
#define RP_SOLVE_EXHAUSTIVE_ASTAR_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/stop.h"
#include "solve/exhaustive/astar_problem.h"
#include "solve/exhaustive/astar_states.h"

/* Beside the comparisons: a state that is tried, and one that is added. */
enum { RP_ASTAR_WORK_PER_TRY = 35, RP_ASTAR_WORK_PER_STATE = 140 };

struct rp_astar_search {
    const struct rp_astar_problem *q; /* borrowed */
    const struct rp_astar_options *o; /* borrowed, of the call under way */
    uint64_t host_limit_bytes;
    struct rp_astar_states k;
    RP_VEC(uint32_t) open[RP_ASTAR_MAX_OPS + 1]; /* per n_first: a heap of nodes */
    uint64_t work, max_work;
    /* No plan of the whole step, or window, that takes below_ns or more is of interest. It
     * is the time of the best one, which ends with the node `best` (RP_NONE: none yet). */
    uint64_t below_ns;
    uint32_t best;
    uint64_t unfit_ns; /* of the fastest plan which does not fit once small tensors count */
    uint64_t bound_ns; /* none takes less; at most below_ns */
    uint64_t enough_ns;        /* a bound that is high enough */
    uint64_t column_work;      /* how long the column search goes on */
    struct rp_astar_result *r; /* borrowed: its work and statistics grow */
};

/* Adds a state that the step `by` leads to, unless it is too slow or dominated. */
void rp_astar_open_add(struct rp_astar_search *f, const struct rp_astar_state *s,
                       const struct rp_astar_ends *ends, struct rp_astar_step by);
/* Puts a node back. */
void rp_astar_open_push(struct rp_astar_search *f, uint32_t node);
/* Takes the best node of a column that is not empty. */
uint32_t rp_astar_open_pop(struct rp_astar_search *f, uint32_t column);
/* The column of the best open node; RP_NONE if none is open. */
uint32_t rp_astar_open_best(const struct rp_astar_search *f);

/* Counts work. True if the search is to end. Children of the present node may be missing
 * then. */
bool rp_astar_open_spend(struct rp_astar_search *f, uint64_t work);

#endif
