/* lp_rounding: schedules from points of a linear program, for annealing to start from.
 *
 * On large graphs annealing from keep-all ends in a local optimum: which groups of tensors
 * to hold where memory is scarcest it hardly changes later. The linear program of a few
 * stages knows that. PDHG reaches a rough point of it in a fraction of a second, which is
 * rounded (stage_rounding.h). The schedule is over the limit, and a short cool run mends
 * that.
 *
 * The first program has MIN_ROUNDING_STAGES stages; later ones have twice as many each, up
 * to MAX_ROUNDING_STAGES, for other starts.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_SEARCH_LP_ROUNDING_H
#define RP_SOLVE_SEARCH_LP_ROUNDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "solve/core/schedule.h"

struct rp_lp_rounding;

/* The caller frees it. `p` may move; what it points to must outlive the result. */
struct rp_lp_rounding *rp_lp_rounding_new(const struct rp_instance *p);
void rp_lp_rounding_free(struct rp_lp_rounding *r); /* NULL is fine */

/* Goes on to the next program, if the point of this one has been rounded. With swaps, a
 * plan of plan_ns is known. False if the program is too large; then there are no points. */
bool rp_lp_rounding_begin(struct rp_lp_rounding *r, uint64_t plan_ns);

/* Work units of PDHG (bound/pdhg_bound.h) until its point is of use; 0 if it is. */
uint64_t rp_lp_rounding_work_missing(const struct rp_lp_rounding *r);
/* Goes on for `work` units. False if there is nothing more to gain. */
bool rp_lp_rounding_run(struct rp_lp_rounding *r, uint64_t work, struct rp_stop *stop);

/* Rounds the point, at the next of a sequence of thresholds. `s` has the instance's shape.
 * False if the schedule is not sound, or once `stop` hits. */
bool rp_lp_rounding_next(struct rp_lp_rounding *r, struct rp_stop *stop,
                         struct rp_schedule *s);

#endif
