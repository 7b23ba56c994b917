/* check_run: rules 1, 2 and 7 of docs/formats.md: an op may run, what it reads and updates
 * is there, in the right version, and its outputs have storage. Thread-safe as plan_state.h
 * is. */
#ifndef RP_VERIFY_CHECK_RUN_H
#define RP_VERIFY_CHECK_RUN_H

#include "verify/plan_state.h"

/* Checks a step of kind RP_RUN and carries it out on the state. RP_NO if it is rejected. */
rp_rc rp_check_run(struct rp_plan_state *w, const struct rp_step *s);

#endif
