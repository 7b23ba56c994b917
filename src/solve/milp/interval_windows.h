/* interval_windows: a lower bound from the optima of short windows.
 *
 * Where little memory is left beside what single ops need, linear relaxations are weak: one
 * half of a tensor is made again in one stage and the other half in the next, with half the
 * memory each time. A graph of some hundred ops is too large for branch and cut, but a
 * window of its interval model (interval_model.h) is not: on a U-Net of 154 ops, 2% above
 * its floor, 8 stages have 237 to 2,389 columns. What a step takes beside its first runs is
 * at least what windows that share no stage take together.
 *
 * An incumbent says where that may be worth it, and what a window takes at most. Windows of
 * about 8 stages come first, then those of 16, 32 and 64, each one begins in the middle of
 * the one before. They begin and end where ops have large working sets: what is on the
 * device when a window begins comes for free, and little is there then. Only the ops
 * nearest to a window run again in it (interval_reach.h), so its size does not follow the
 * graph's. Most of the work goes where the incumbent takes most and shorter windows have
 * proved something; windows that would get too little are left out, and so are those in
 * which shorter ones have proved all that the incumbent takes. The bound is that of the
 * best set of windows without common stages (weighted interval scheduling, as in Kleinberg
 * and Tardos, "Algorithm Design", 2005, section 6.1).
 *
 * Thread-safe as far as the engine is.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_WINDOWS_H
#define RP_SOLVE_MILP_INTERVAL_WINDOWS_H

#include "solve/milp/interval_solve.h"

/* d_ns[t], t = 0 .. n_ops, is what a program that takes plan_ns takes in stage t beside the
 * first run of op t. The result is as that of rp_interval_solve with this program's time as
 * the horizon, but there is never a point, and the bound is plan_ns at most. */
void rp_interval_windows_solve(const struct rp_instance *p, uint64_t plan_ns,
                               const uint64_t *d_ns, const struct rp_interval_options *o,
                               struct rp_interval_result *r);

#endif
