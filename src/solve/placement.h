/* placement: from the incumbent to a plan with addresses.
 *
 * The packer may need more than the schedule's peak. Then the schedule's limit is lowered
 * by what is missing, the search goes on from the incumbent for a little, and the new
 * schedule is packed. If that does not end well, schedules made in one pass under clearly
 * lower limits are packed.
 */
#ifndef RP_SOLVE_PLACEMENT_H
#define RP_SOLVE_PLACEMENT_H

#include "solve/context.h"

/* Fills `plan` with the steps of the incumbent, with addresses if the options ask for them.
 * Changes w->p.limit_bytes and the incumbent where these do not fit. RP_LIMIT, with the
 * reason in the report, if none was found that does. `scratch` has the instance's shape. */
rp_rc rp_place(struct rp_context *w, struct rp_plan *plan, struct rp_schedule *scratch);

#endif
