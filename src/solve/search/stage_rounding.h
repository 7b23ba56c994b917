/* stage_rounding: a schedule from a point of a linear program whose stages hold several
 * first runs (formulation.h).
 *
 * S of the point is rounded where one stage ends and the next begins: what is above a
 * threshold is held there. Within a stage of the program the runs follow: an op runs when
 * its outputs are first wanted, at most once, and these are held until their last use in
 * the stage, as the program has it. What is wanted when its maker may not run again has
 * been held since it was made. Memory is not looked at, so the schedule may be over the
 * limit. (Rounding S and deriving the runs: Jain et al., "Checkmate", MLSys 2020, section
 * 5, for one first run a stage.)
 *
 * Thread-safe.
 */
#ifndef RP_SOLVE_SEARCH_STAGE_ROUNDING_H
#define RP_SOLVE_SEARCH_STAGE_ROUNDING_H

#include "solve/lp/formulation.h"

/* v: one value for each column. `s` has the instance's shape; it is replaced. Nothing is
 * swapped in. */
void rp_stage_rounding(const struct rp_formulation *f, const double *v, double threshold,
                       struct rp_schedule *s);

#endif
