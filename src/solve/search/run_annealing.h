/* run_annealing: annealing runs, counted in the statistics of the search.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_SEARCH_RUN_ANNEALING_H
#define RP_SOLVE_SEARCH_RUN_ANNEALING_H

#include "solve/context.h"

/* One run on p, which is the instance of a space or has a lower limit. The best schedule
 * found replaces `s`, where the run starts; it is not offered as an incumbent. */
void rp_run_annealing(struct rp_context *w, const struct rp_instance *p,
                      const struct rp_anneal_options *o, enum rp_method method,
                      struct rp_schedule *s);

/* `work` as a share of what one run on p can usefully do. */
double rp_share_of_run(const struct rp_instance *p, double work);

/* The same with `work` units, until the context is told to stop. Its first temperature is
 * `times` the usual one. */
void rp_run_annealing_alone(struct rp_context *w, const struct rp_instance *p, double work,
                            double times, uint64_t seed, struct rp_schedule *s);

#endif
