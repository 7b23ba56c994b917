/* interval_worker: the interval model solved in a child process, beside a search.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_WORKER_H
#define RP_SOLVE_MILP_INTERVAL_WORKER_H

#include "solve/core/schedule.h"
#include "solve/milp/interval_proof.h"

struct rp_interval_worker;

/* Starts to look for programs that take horizon_ns at most, within `scope`; NULL: among
 * all. The worker has no use for o->stop and o->proved_ns. `p` must outlive the worker.
 * NULL: no process could be started. */
struct rp_interval_worker *rp_interval_worker_start(const struct rp_instance *p,
                                                    uint64_t horizon_ns,
                                                    const struct rp_interval_scope *scope,
                                                    const struct rp_interval_options *o);

/* Starts to look for a bound from windows, with `whole` after some work on the whole model
 * (interval_proof.h): for programs that take less than plan_ns, whose d_ns is of no use
 * once this returns. There is a point from the whole model only. The rest is as above. */
struct rp_interval_worker *
rp_interval_worker_start_proof(const struct rp_instance *p, uint64_t plan_ns,
                               const uint64_t *d_ns, bool whole,
                               const struct rp_interval_options *o);

/* Waits at most `seconds` for the answer. False: there is none yet. If the process has
 * died, the answer is the bound that it had proved. */
bool rp_interval_worker_wait(struct rp_interval_worker *w, double seconds,
                             struct rp_interval_result *r);

/* Where the process keeps what it has proved so far, as `bound_ns` of the answer. It
 * depends on the clock. Valid until rp_interval_worker_end. */
const uint64_t *rp_interval_worker_proved_ns(const struct rp_interval_worker *w);

/* If the answer has a point: the schedule that it describes (interval_point.h). */
void rp_interval_worker_schedule(const struct rp_interval_worker *w, struct rp_schedule *s);

void rp_interval_worker_end(struct rp_interval_worker *w); /* NULL is fine */

#endif
