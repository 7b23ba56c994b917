/* pdhg_cutoff: raises the PDHG bound by cutoffs. Only schedules below a cutoff are looked
 * at. A column whose reduced cost is more than what is left to the cutoff has the same
 * value in all of them (Dantzig, Fulkerson and Johnson, "Solution of a large-scale
 * traveling-salesman problem", 1954), and the values of others follow. The linear program
 * of the rest has a higher optimum and is faster to solve. As the bound rises, more columns
 * are fixed. If it reaches the cutoff, no schedule is below that. Otherwise it is a bound
 * as well, as far as it got.
 *
 * A program that no longer rises much is split in two: an op runs again less often than its
 * runs at the point add up to, or more often. Both are worked on in turn.
 *
 * The cutoff that can just be proved is searched for: the step from the bound to the cutoff
 * doubles after each that is proved, and is halved after each that is given up.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_BOUND_PDHG_CUTOFF_H
#define RP_SOLVE_BOUND_PDHG_CUTOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/stop.h"
#include "solve/bound/pdhg_program.h"

struct rp_pdhg_cutoff {
    struct rp_formulation_options options; /* of the whole program */
    uint64_t cutoff_ns;
    struct rp_pdhg_program *program; /* of schedules below it; NULL: none is tried now */
    RP_VEC(struct rp_pdhg_program *) open; /* of the other ones below it */
    bool has_split;
    uint64_t spent_work, max_work; /* for this cutoff, once it has split */
    double tree_share;  /* of all work: what max_work is. Doubles when steps get short */
    uint64_t failed_ns; /* the least that was given up; UINT64_MAX */
    uint64_t step_ns;   /* from the bound to the next cutoff; 0: none has been tried */
    struct rp_pdhg_statistics statistics; /* of programs that are gone, and of cutoffs */
};

void rp_pdhg_cutoff_init(struct rp_pdhg_cutoff *c, const struct rp_formulation_options *o);
void rp_pdhg_cutoff_fini(struct rp_pdhg_cutoff *c);

/* Chooses a cutoff above *bound_ns, at most goal_ns, the time of the fastest schedule
 * known, which is above it. Makes its program from `full`, whose best multipliers prove
 * something. If it is proved at once, that raises *bound_ns. */
void rp_pdhg_cutoff_begin(struct rp_pdhg_cutoff *c, const struct rp_pdhg_program *full,
                          uint64_t low_ns, uint64_t goal_ns, uint64_t *bound_ns);

/* One step of PDHG on that program. Raises *bound_ns to what it proves, and sets
 * c->program to NULL when the cutoff is proved or given up. */
void rp_pdhg_cutoff_step(struct rp_pdhg_cutoff *c, struct rp_stop *stop,
                         uint64_t *bound_ns);

#endif
