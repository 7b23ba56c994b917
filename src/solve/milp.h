/* milp: the exact method (tree.h) in a child process, which the parent can end at any
 * moment and whose death it survives.
 *
 * The two talk at fixed points only: rp_milp_go hands over the best plan so far and an
 * amount of work; the child does that much, says what it has, and waits. What it says is
 * therefore the same on any machine, whenever the parent listens.
 *
 *     struct rp_milp *m = rp_milp_start(p, &options);
 *     do {
 *         rp_milp_go(m, 1000000, best);      returns at once
 *         ... search in the parent ...
 *         status = rp_milp_wait(m, 10, &r);  r.schedule may be better than `best`
 *     } while (status == RP_MILP_PAUSED);
 *     rp_milp_end(m);
 */
#ifndef RP_SOLVE_MILP_H
#define RP_SOLVE_MILP_H

#include <sys/types.h>

#include "solve/tree.h"

enum rp_milp_status {
    RP_MILP_PAUSED,   /* did the work; go on with rp_milp_go */
    RP_MILP_FINISHED, /* result.state.status says with what */
    RP_MILP_DEADLINE, /* not yet there (or a signal came): wait again, or end it */
    RP_MILP_DEAD      /* the process is gone; earlier results stay true */
};

struct rp_milp_result {
    struct rp_tree_state state;
    const struct rp_schedule
        *schedule; /* the best one, if state.found; until the next go */
};

struct rp_milp;
/* Starts the process; p must outlive it. NULL if the system gives none. */
struct rp_milp *rp_milp_start(const struct rp_problem *p, const struct rp_tree_options *o);
/* best: NULL, or a schedule that the child may not know yet. */
void rp_milp_go(struct rp_milp *m, uint64_t work, const struct rp_schedule *best);
/* Waits for what rp_milp_go asked, at most `seconds`. A schedule that does not evaluate to
 * what the child says of it counts as its death. */
enum rp_milp_status rp_milp_wait(struct rp_milp *m, double seconds,
                                 struct rp_milp_result *r);
void rp_milp_end(struct rp_milp *m); /* NULL does nothing */
pid_t rp_milp_process(const struct rp_milp *m);

#endif
