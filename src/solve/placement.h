/* placement: from the incumbent to a plan with addresses, which pack/addresses.h gives.
 *
 * The packer may need more than the schedule's peak. Then the schedule's limit is lowered
 * by what is missing, a short search continues from the incumbent, and the new schedule is
 * packed. If no attempt fits, schedules made in one pass under clearly lower limits are
 * packed.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_PLACEMENT_H
#define RP_SOLVE_PLACEMENT_H

#include "solve/context.h"

/* Fills `plan` with the steps of keep-all, with addresses if the options ask for them.
 * False if these do not fit. */
bool rp_place_keep_all(struct rp_context *w, struct rp_plan *plan);

/* Fills `plan` with the steps of the incumbent, with addresses if the options ask for them.
 * If these do not fit, changes w->p.limit_bytes and the incumbent. RP_LIMIT, with the
 * reason in the report, if no plan was found that fits. On entry `plan` is empty, or as
 * rp_place_keep_all left it: then the incumbent is keep-all, and is not placed again.
 * `scratch` has the instance's shape. */
rp_rc rp_place(struct rp_context *w, struct rp_plan *plan, struct rp_schedule *scratch);

#endif
