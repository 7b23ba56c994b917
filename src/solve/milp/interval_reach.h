/* interval_reach: what a program can do in the stages of an interval model, as far as this
 * is plain before its rows are written. What it cannot do has no column.
 *
 * It knows that a program spends slack_ns beside its first runs, and in the model's stages
 * no more than most_ns. In a window, an op runs again only if that serves a first run
 * there, and all runs on the way to it take most_ns together or less.
 *
 * Of the ops before a window, only those run again that are near it: the max_runs from
 * whose runs to one of the window the least time passes, and others for which that is as
 * little. What those farther off can make is assumed: it counts as there at any moment, and
 * takes no memory. So the window is a relaxation whose size does not follow the graph's.
 *
 * Const once it is made.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_REACH_H
#define RP_SOLVE_MILP_INTERVAL_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"

/* The stages of a window, and what is known of it. */
struct rp_interval_window {
    uint32_t first, last;
    uint64_t most_ns;
    uint32_t max_runs;
};

struct rp_interval_reach {
    const struct rp_instance *p; /* borrowed */
    struct rp_interval_window window;
    double slack_ns;
    double *before_ns; /* per op, and at n_ops: time of the ops before it */
    /* Per op: the last stage in which it may run again. Per tensor: the last one that may
     * begin with it. 0: there is none. */
    uint32_t *r_last, *s_last;
    bool *is_assumed;      /* per tensor */
    uint64_t *working_set; /* per op: bytes of what it reads, makes and works in */
};
/* w->most_ns is slack_ns at most. Stages 0 to n_ops are the whole step: all ops are near.
 */
void rp_interval_reach_init(struct rp_interval_reach *c, const struct rp_instance *p,
                            const struct rp_interval_window *w, uint64_t slack_ns);
void rp_interval_reach_fini(struct rp_interval_reach *c);

/* Does op k read or make x? */
bool rp_interval_touches(const struct rp_instance *p, uint32_t k, uint32_t x);

/* May x be on the device as stage t begins, 0 < t <= n_ops, as far as memory is concerned?
 * It is made before that. */
bool rp_interval_fits(const struct rp_interval_reach *c, uint32_t t, uint32_t x);

/* Time of the ops between a and b. */
static inline double rp_interval_between_ns(const struct rp_interval_reach *c, uint32_t a,
                                            uint32_t b) {
    return b <= a + 1 ? 0 : c->before_ns[b] - c->before_ns[a + 1];
}

/* Is it not the whole step? */
static inline bool rp_is_window(const struct rp_instance *p,
                                const struct rp_interval_window *w) {
    return w->first > 0 || w->last < p->n_ops;
}

#endif
