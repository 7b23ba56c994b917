/* placement: from the incumbent to a plan with addresses, which pack/addresses.h gives.
 *
 * After each turn the incumbent of its space is packed, if it is faster than the fastest
 * plan that has been packed so far (w->placed). The packer may need more than the
 * schedule's peak. Then a short search goes on from the incumbent for a schedule that
 * leaves as much of the limit unused as was missing, at least where the working sets of ops
 * leave that room; the new schedule is packed, and so on. The search itself goes on within
 * the full limit. Attempts get a share of the time of all turns. One that takes more is
 * finished, and the next one waits until the turns have made up for it. All this depends on
 * counted work alone, so a search with a longer limit makes the attempts of a shorter one.
 *
 * If nothing can be packed at first, schedules made in one pass that leave a sixteenth of
 * the limit unused, or more, are.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_PLACEMENT_H
#define RP_SOLVE_PLACEMENT_H

#include "solve/context.h"

/* Makes w->placed the plan of keep-all. False if its addresses do not fit, or if the clock
 * ran out. */
bool rp_place_keep_all(struct rp_context *w);

/* Places the first incumbents, or else schedules made in one pass. Does nothing if no
 * addresses are wanted; neither does the next one. `scratch` has the instance's shape. */
void rp_place_first(struct rp_context *w, struct rp_schedule *scratch);

/* Tries to place the incumbent of the turn's space. */
void rp_place_incumbent(struct rp_context *w, const struct rp_turn *turn,
                        struct rp_schedule *scratch);

/* After the search: places the incumbent if that has had no attempt yet. RP_LIMIT, with the
 * reason in the report, if no plan could be placed. */
rp_rc rp_place_last(struct rp_context *w, struct rp_schedule *scratch);

/* Looks for a smaller arena for w->placed, and hands it over to `plan`, which is empty. */
void rp_place_take(struct rp_context *w, struct rp_plan *plan);

#endif
