/* pdhg_bound: a lower bound of the time of every plan within the limit, for instances of
 * any size.
 *
 * For any multipliers y >= 0 of rows A v <= b and columns in [0, 1],
 *
 *   (7)  sum of time + sum over columns of min(0, c + A'y) - b y
 *
 * is at most the least time (weak duality), however y was found. Here PDHG (pdhg.h) finds y
 * for rows (2) and (3) and for the rows (4), path cuts (5), covers (6) and rows (9) and
 * (10) of sep_copy.h that its points violate, which are added as it goes. Then y is rounded
 * to integers over a power of two, and (7) is evaluated in integers with the instance's own
 * bytes and nanoseconds (safe_dual.h). So rp_pdhg_bound_ns does not depend on
 * floating-point rounding. Times are integers, so (7) may be rounded up. (Such bounds by
 * large-scale first-order methods: Applegate et al., "Practical large-scale linear
 * programming using primal-dual hybrid gradient", 2021.)
 *
 * With swaps the bound holds for plans of at most some horizon (swap_relaxation.h). It
 * rises as the horizon falls, so the best horizon is the one that equals the bound it
 * proves. The method starts at the time of a known plan and moves the horizon towards that
 * point.
 *
 * On graphs of more than FIRST_PDHG_STAGES ops a stage holds several of them at first. That
 * is a relaxation whose optimum is mostly little lower, and PDHG reaches it in a fraction
 * of the time. When it gains little more, and cutoffs (pdhg_cutoff.h) no longer get on
 * either, a linear program with twice as many stages follows.
 *
 * Work is counted, not timed: the same calls give the same numbers, unless a deadline or a
 * signal ended one.
 *
 * Not thread-safe: one object, one thread at a time. Different objects may be used by
 * different threads.
 */
#ifndef RP_SOLVE_BOUND_PDHG_BOUND_H
#define RP_SOLVE_BOUND_PDHG_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "solve/bound/pdhg_statistics.h"
#include "solve/lp/formulation.h"

struct rp_pdhg_bound;

/* `p` must outlive the result, which the caller frees. If the formulation would take more
 * than about 2 GiB, the bound stays the sum of all times. horizon_ns == 0: the bound is for
 * plans without swaps. Above 0 (`p` allows swaps): it is for all plans; horizon_ns is the
 * time of some plan, or more. No bound is above horizon_ns. */
struct rp_pdhg_bound *rp_pdhg_bound_new(const struct rp_instance *p, uint64_t horizon_ns);
/* The same, with rows that are all of one formulation, and without cutoffs. */
struct rp_pdhg_bound *rp_pdhg_bound_new_for_certificate(const struct rp_instance *p,
                                                        uint64_t horizon_ns);
/* The same, with so many stages at most for good, for the sake of its points. */
struct rp_pdhg_bound *rp_pdhg_bound_new_for_points(const struct rp_instance *p,
                                                   uint64_t horizon_ns, uint32_t stages);
/* The same, of this formulation. */
struct rp_pdhg_bound *rp_pdhg_bound_new_with(const struct rp_instance *p,
                                             const struct rp_formulation_options *o);
/* Tells the bound that a plan of plan_ns has been found, which lets it prove more. With
 * swaps the horizon is at most that. Without swaps, cutoffs up to it are tried when the
 * linear program gains little more (pdhg_cutoff.h). */
void rp_pdhg_bound_tighten(struct rp_pdhg_bound *b, uint64_t plan_ns);
/* Tells it what another method has proved. Cutoffs are above that. */
void rp_pdhg_bound_is_known(struct rp_pdhg_bound *b, uint64_t bound_ns);
void rp_pdhg_bound_free(struct rp_pdhg_bound *b); /* NULL is fine */

/* Continues for `work` units (a unit is one term of the linear program that is touched), or
 * until `stop` (which may be NULL). The last step of a call may pass that; the next call
 * then gets less. False if there is nothing more to gain. */
bool rp_pdhg_bound_run(struct rp_pdhg_bound *b, uint64_t work, struct rp_stop *stop);
/* Work units until PDHG has made `steps` steps in all, about; 0 if it has. */
uint64_t rp_pdhg_bound_work_until(const struct rp_pdhg_bound *b, uint64_t steps);

/* The best bound so far. */
uint64_t rp_pdhg_bound_ns(const struct rp_pdhg_bound *b);

/* The formulation. NULL if the linear program was too large. */
const struct rp_formulation *rp_pdhg_bound_formulation(const struct rp_pdhg_bound *b);
/* The fractional point of it that PDHG has reached: one value a column, which the caller
 * frees. It meets the rows nearly, and guides a search (search/lp_rounding.h). */
double *rp_pdhg_bound_point(const struct rp_pdhg_bound *b);

/* Of a bound for a certificate, or with a formulation of its own: what proves
 * rp_pdhg_bound_ns, unless a cutoff has raised it since. Rows, and for row i
 * the multiplier multipliers[i] / 2^scale_log2, in ns, or in ns per byte for rows (4). No
 * rows: the bound is the sum of all times. Valid until the next call of rp_pdhg_bound_run.
 */
const struct rp_row_set *rp_pdhg_bound_rows(const struct rp_pdhg_bound *b);
const int64_t *rp_pdhg_bound_multipliers(const struct rp_pdhg_bound *b,
                                         unsigned *scale_log2);
/* With swaps: the horizon of that proof. 0 without swaps, and without rows. */
uint64_t rp_pdhg_bound_horizon_ns(const struct rp_pdhg_bound *b);

/* (7) in doubles, in ns: the integers are checked against it. */
double rp_pdhg_bound_estimate(const struct rp_pdhg_bound *b);

struct rp_pdhg_statistics rp_pdhg_bound_statistics(const struct rp_pdhg_bound *b);

#endif
