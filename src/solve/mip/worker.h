/* milp: the exact method (branch_cut.h) in a child process, which the parent can end at any
 * moment and whose death it survives.
 *
 * The two talk at fixed points only: rp_mip_worker_submit hands over the best plan so far
 * and an amount of work; the child does that much, says what it has, and waits. What it
 * says is therefore the same on any machine, whenever the parent listens.
 *
 *     struct rp_mip_worker *m = rp_mip_worker_start(p, &options);
 *     do {
 *         rp_mip_worker_submit(m, 1000000, best);      returns at once
 *         ... search in the parent ...
 *         status = rp_mip_worker_wait(m, 10, &r);  r.schedule may be better than `best`
 *     } while (status == RP_MIP_PAUSED);
 *     rp_mip_worker_end(m);
 */
#ifndef RP_SOLVE_MIP_WORKER_H
#define RP_SOLVE_MIP_WORKER_H

#include <sys/types.h>

#include "solve/mip/branch_cut.h"

enum rp_mip_worker_status {
    RP_MIP_PAUSED,   /* did the work; go on with rp_mip_worker_submit */
    RP_MIP_FINISHED, /* result.state.status says with what */
    RP_MIP_DEADLINE, /* not yet there (or a signal came): wait again, or end it */
    RP_MIP_DEAD      /* the process is gone; earlier results stay true */
};

struct rp_mip_worker_result {
    struct rp_branch_cut_state state;
    const struct rp_schedule
        *schedule; /* the best one, if state.found; until the next go */
};

struct rp_mip_worker;
/* Starts the process; p must outlive it. NULL if the system gives none. */
struct rp_mip_worker *rp_mip_worker_start(const struct rp_instance *p,
                                          const struct rp_branch_cut_options *o);
/* best: NULL, or a schedule that the child may not know yet. */
void rp_mip_worker_submit(struct rp_mip_worker *m, uint64_t work,
                          const struct rp_schedule *best);
/* Waits for what rp_mip_worker_submit asked, at most `seconds`. A schedule that does not
 * evaluate to what the child says of it counts as its death. */
enum rp_mip_worker_status rp_mip_worker_wait(struct rp_mip_worker *m, double seconds,
                                             struct rp_mip_worker_result *r);
void rp_mip_worker_end(struct rp_mip_worker *m); /* NULL does nothing */
pid_t rp_mip_worker_process(const struct rp_mip_worker *m);

#endif
