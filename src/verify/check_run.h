/* check_run: rules 1 and 2 of docs/formats.md: an op may run, its inputs are there, and its
 * outputs have storage. Thread-safe as plan_state.h is. */
#ifndef RP_VERIFY_CHECK_RUN_H
#define RP_VERIFY_CHECK_RUN_H

#include "verify/plan_state.h"

/* Checks a step of kind RP_RUN and carries it out on the state. RP_NO if it is rejected. */
rp_rc rp_check_run(struct rp_plan_state *w, const struct rp_step *s);

#endif
