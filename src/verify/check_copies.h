/* check_copies: rule 3 of docs/formats.md: swap-outs, swap-ins, and frees, which wait for
 * the swap-out that is under way and must not come during a swap-in. Thread-safe as
 * plan_state.h is. */
#ifndef RP_VERIFY_CHECK_COPIES_H
#define RP_VERIFY_CHECK_COPIES_H

#include "verify/plan_state.h"

/* Check a step of this kind, whose tensor is no source, and carry it out on the state.
 * RP_NO if it is rejected. */
rp_rc rp_check_free(struct rp_plan_state *w, const struct rp_step *s);
rp_rc rp_check_swap_out(struct rp_plan_state *w, const struct rp_step *s);
rp_rc rp_check_swap_in(struct rp_plan_state *w, const struct rp_step *s);

#endif
