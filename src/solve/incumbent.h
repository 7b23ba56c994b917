/* incumbent: the best solution known so far. This is the only place where a better one
 * replaces it. (With --reorder the given order of ops and the new one each have an
 * incumbent, and order_search.c chooses which is current. Branch and cut and each annealing
 * run have a best solution of their own.)
 *
 * While schedules are searched for, the incumbent is a schedule (rp_incumbent_offer). Once
 * addresses are placed it is a plan, and other plans may still beat it
 * (rp_incumbent_offer_plan).
 *
 * Whether the incumbent is near enough to the bound for --gap is tested in context.h.
 *
 * Not thread-safe: the parts that run beside the search hand in what they have found when
 * the search asks them (background.h), never on their own.
 */
#ifndef RP_SOLVE_INCUMBENT_H
#define RP_SOLVE_INCUMBENT_H

#include "solve/context.h"

/* Makes a copy of `s` the incumbent if it is sound, fits w->p's limits of device and host
 * memory, and is faster than the incumbent. Of two schedules that take the same time the
 * first one stays. Returns whether it was replaced. `from` is the method that `s` comes
 * from. */
bool rp_incumbent_offer(struct rp_context *w, const struct rp_schedule *s,
                        enum rp_method from);

/* The same for the incumbent of a space, and for that of the whole space, to which it
 * belongs too. `s` is a schedule of that space. Returns whether the space's was replaced.
 */
bool rp_incumbent_offer_in(struct rp_context *w, enum rp_space_id space,
                           const struct rp_schedule *s, enum rp_method from);
/* The same for a schedule whose cost is known. */
bool rp_incumbent_offer_cost(struct rp_context *w, enum rp_space_id space,
                             const struct rp_schedule *s, struct rp_cost c,
                             enum rp_method from);

/* The same for keep-all, as the first offer. Its schedule is made later
 * (rp_context_begin_search). False if sources may live on the host: then keep-all is no
 * first candidate. */
bool rp_incumbent_offer_keep_all(struct rp_context *w);

/* Gives `plan`, a valid one, addresses if they are wanted, and takes copies out of it that
 * it can do without. False, with `plan` as it was, if it does not fit then. */
bool rp_incumbent_place_plan(struct rp_context *w, struct rp_plan *plan);

/* Replaces `plan`, the result so far with return code `rc`, by `other` if that fits, takes
 * only steps that the options allow, and is faster, or as fast with fewer bytes copied.
 * `other` is a valid plan or NULL; one without steps counts as none. Returns RP_OK if
 * `plan` now holds a plan, else rc. */
rp_rc rp_incumbent_offer_plan(struct rp_context *w, const struct rp_plan *other, rp_rc rc,
                              struct rp_plan *plan);

#endif
