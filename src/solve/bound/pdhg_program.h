/* pdhg_program: one linear program of the PDHG bound, as PDHG works on it: a formulation,
 * the cuts that its points violated so far, and the best multipliers.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_BOUND_PDHG_PROGRAM_H
#define RP_SOLVE_BOUND_PDHG_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "solve/bound/pdhg.h"
#include "solve/bound/pdhg_cuts.h"
#include "solve/bound/pdhg_statistics.h"
#include "solve/lp/formulation.h"

struct rp_pdhg_program {
    struct rp_formulation formulation;
    struct rp_row_set fixed;  /* rows (2) and (3) */
    struct rp_pdhg_cuts cuts; /* rows (4) to (6), and (8) to (11) */
    struct rp_pdhg method;
    uint32_t n_fresh_steps; /* since the last separation */
    uint64_t step_work;     /* of all steps, in terms touched */
    uint32_t n_separations;
    uint32_t n_without_gain; /* separations since the last gain */
    double gained;           /* the bound at that gain, scaled */
    /* The best multipliers so far, with the cuts that they belong to. */
    double best;   /* (7) from them, scaled, without the fixed cost */
    float *best_y; /* of `fixed`, then of best_cuts */
    struct rp_row_set best_cuts;
    bool best_is_new;  /* since its owner last set it to false */
    bool cuts_are_new; /* since best_cuts was copied from cuts */
    /* For rp_pdhg_program_is_slow: the best of the evaluations since its last check, and
     * that of the checks before. */
    double recent, before;
    uint32_t n_slow; /* checks in a row */
    uint64_t dual_evaluations;
    uint64_t work; /* terms touched, in all */
};

/* Starts at keep-all. `p` must outlive the program, which the caller owns. False, with the
 * formulation given back, if it takes more than about 2 GiB or bytes are no exact
 * doubles. */
bool rp_pdhg_program_init(struct rp_pdhg_program *q, const struct rp_instance *p,
                          const struct rp_formulation_options *o);

/* The part of `from` in which each column j has the value known[j], or any if that is
 * RP_UNDECIDED, and which meets the rows `also`, of kind RP_ROW_OTHER and in the columns of
 * `from`. o is what the first program was made with. It continues from the cuts and best
 * multipliers of `from`, and from its point. False if no schedule is left; then there is
 * nothing to free. */
bool rp_pdhg_program_restrict(struct rp_pdhg_program *q, const struct rp_pdhg_program *from,
                              const struct rp_formulation_options *o, const uint8_t *known,
                              const struct rp_row_set *also);
void rp_pdhg_program_fini(struct rp_pdhg_program *q); /* safe on a zeroed one */

/* One step of PDHG, then evaluation and separation if they are due. True if it has
 * separated. */
bool rp_pdhg_program_step(struct rp_pdhg_program *q, struct rp_stop *stop);

/* About what so many steps take. */
uint64_t rp_pdhg_program_work_of(const struct rp_pdhg_program *q, uint64_t steps);

/* Asked after each separation: has it long gained little of what is missing to the target,
 * a bound, scaled, without the fixed cost? What it loses at first counts too: after a
 * restriction it falls, and rises again. */
bool rp_pdhg_program_is_slow(struct rp_pdhg_program *q, double target);

/* PDHG goes on with other rows or right sides, which the caller has changed in `cuts`.
 * Bounds of the old rows do not count any more. */
void rp_pdhg_program_change(struct rp_pdhg_program *q, const float *y);

/* A bound in ns from its scaled value without the fixed cost. */
double rp_pdhg_program_ns(const struct rp_pdhg_program *q, double value);

/* Copies the rows whose best multiplier is positive. Returns those multipliers as integers
 * (rp_safe_dual_round), which the caller frees. */
int64_t *rp_pdhg_program_proof(const struct rp_pdhg_program *q, struct rp_row_set *rows,
                               unsigned *scale_log2);

/* Adds what it has done. */
void rp_pdhg_program_count(const struct rp_pdhg_program *q, struct rp_pdhg_statistics *s);

#endif
