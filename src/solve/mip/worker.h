/* worker: branch and cut in a child process, which the parent can end at any moment and
 * whose death it survives.
 *
 * The two exchange data at fixed points only. rp_mip_worker_submit hands over an amount of
 * work and the best schedule so far. The child does that work, sends its state and waits.
 * So its answers are the same on any machine, whenever the parent reads them.
 *
 *     struct rp_mip_worker *m = rp_mip_worker_start(p, &options);
 *     do {
 *         rp_mip_worker_submit(m, 1000000, best);      returns at once
 *         ... search in the parent ...
 *         status = rp_mip_worker_wait(m, 10, &r);  r.schedule may be better than `best`
 *     } while (status == RP_MIP_PAUSED);
 *     rp_mip_worker_end(m);
 *
 * Not thread-safe: one worker, one thread. Different workers may run at the same time.
 */
#ifndef RP_SOLVE_MIP_WORKER_H
#define RP_SOLVE_MIP_WORKER_H

#include <sys/types.h>

#include "solve/mip/branch_cut.h"

enum rp_mip_worker_status {
    RP_MIP_PAUSED,   /* did the work; rp_mip_worker_submit continues */
    RP_MIP_FINISHED, /* result.state.status has the outcome */
    RP_MIP_DEADLINE, /* no answer yet, or a signal arrived: wait again, or end it */
    RP_MIP_DEAD      /* the process is gone; earlier results stay valid */
};

struct rp_mip_worker_result {
    struct rp_branch_cut_state state;
    const struct rp_schedule *schedule; /* the best if state.found; valid until submit */
    double seconds; /* of processor time that the process has taken. For reports only */
};

struct rp_mip_worker;
/* Starts the process. `p` must outlive it. NULL if the system cannot start one. */
struct rp_mip_worker *rp_mip_worker_start(const struct rp_instance *p,
                                          const struct rp_branch_cut_options *o);
/* best: NULL, or a schedule that the child may not know yet. */
void rp_mip_worker_submit(struct rp_mip_worker *m, uint64_t work,
                          const struct rp_schedule *best);
/* Waits at most `seconds` for the answer to rp_mip_worker_submit. If the child's schedule
 * does not evaluate to what its state claims, the child counts as dead. */
enum rp_mip_worker_status rp_mip_worker_wait(struct rp_mip_worker *m, double seconds,
                                             struct rp_mip_worker_result *r);
void rp_mip_worker_end(struct rp_mip_worker *m); /* NULL is fine */
pid_t rp_mip_worker_process(const struct rp_mip_worker *m);

#endif
