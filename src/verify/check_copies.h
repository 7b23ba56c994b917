/* check_copies: rules 3 and 8 of docs/formats.md, on swap-outs, swap-ins and frees. A free
 * waits for the swap-out of its tensor that is under way. It must not come during a
 * swap-in. races.h checks that the waits of a replay are enough for that.
 *
 * Thread-safe as plan_state.h is.
 */
#ifndef RP_VERIFY_CHECK_COPIES_H
#define RP_VERIFY_CHECK_COPIES_H

#include "verify/plan_state.h"

/* Check a step of this kind, whose tensor is movable, and carry it out on the state.
 * RP_NO if it is rejected. */
rp_rc rp_check_free(struct rp_plan_state *w, const struct rp_step *s);
rp_rc rp_check_swap_out(struct rp_plan_state *w, const struct rp_step *s);
rp_rc rp_check_swap_in(struct rp_plan_state *w, const struct rp_step *s);

#endif
