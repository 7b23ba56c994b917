/* sep_copy: rows about what the copy queues can do between two ops. They tighten the linear
 * program for plans with swaps (lp/swap_relaxation.h), where rows (4) say only how much can
 * have been copied since the step began.
 *
 * Let room[b] be the limit less the working set of op k = last_op[b]. S[b+1][x] = 1 says
 * that x is on the device or the host as stage b ends, and is read before it is made again.
 * If x is not on the device while op k runs, then it has been copied out before that, and
 * is copied in between the end of that run and the next run that reads it. So, with in[x]
 * and out[x] for how long its copies take,
 *
 *   (9) in    sum of in[x] S[b+1][x]    over x that a first run after k reads, that of op d
 *                                       at the latest
 *             <= room[b] as time + time of ops k+1 .. d-1 + E[b+1] + .. + E[stage of d]
 *   (10) out  sum of out[x] S[b+1][x]   over x that op a or a later one has first made
 *             <= room[b] as time + time of ops a+1 .. k-1 + E[stage of a+1] + .. + E[b]
 *
 * where x is not in the working set of k. "As time" is the time of a copy of that many
 * bytes at the best rate of any tensor, and in[x] and out[x] are for that rate too. A
 * tensor that no run can want after d counts in (9) as well. Tensors that are pinned stay
 * on the device, so they count in any case.
 *
 * E[t] is the time of stage t beside its first runs, W[t] is what of it no run takes:
 *
 *   (8)       E[t] <= W[t] + sum of time[j] R[t][j],         (1) gets + sum of W[t].
 *
 * E and W are columns of the formulation, if its options say so. All these rows count ns.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_BOUND_SEP_COPY_H
#define RP_SOLVE_BOUND_SEP_COPY_H

#include "solve/lp/copy_rate.h"
#include "solve/lp/formulation.h"

struct rp_sep_copy {
    const struct rp_formulation *formulation; /* borrowed; it has columns E and W */
    struct rp_copy_rate in, out;
    uint64_t *before_ns; /* per op, and at n_ops: times of the ops before it */
    bool *beside;        /* per tensor: it is in the working set of k */
    uint32_t *next;      /* per tensor: how many of its readers run first before k ends */
    uint32_t *due;       /* per tensor: d; n_ops if there is none */
    double *from;        /* per op: what (9) or (10) gains on the left side there */
};
void rp_sep_copy_init(struct rp_sep_copy *s, const struct rp_formulation *f);
void rp_sep_copy_fini(struct rp_sep_copy *s); /* safe on a zeroed one */

/* Appends all rows (8). */
void rp_sep_copy_stages(const struct rp_formulation *f, struct rp_row_set *rows);

/* Appends the rows (9) and (10) that point v violates most, at most one of each for each
 * stage b. Returns how many. It looks at n_stages (n_ops + n_tensors) places. */
uint32_t rp_sep_copy_find(struct rp_sep_copy *s, const double *v, struct rp_row_set *rows);

#endif
