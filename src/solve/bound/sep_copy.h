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
 * Copies are whole: an interval with time for one and a half has time for one.
 * Mixed-integer rounding says so. Write (9) or (10) as
 *
 *   sum of a[i] S[i] - sum of u E[t] <= c,
 *
 * after some of the columns S[i] have been replaced by 1 - S[i]. Then, for any length l >
 * 0, and with r = c mod l,
 *
 *   (11) sum of ((l - r) floor(a[i] / l) + max(0, a[i] mod l - r)) S[i] - sum of u E[t]
 *             <= (l - r) floor(c / l).
 *
 * (Marchand and Wolsey, "Aggregation and mixed integer rounding to solve MIPs", 2001, times
 * l - r, so that all coefficients stay integers. safe_dual.h needs that.)
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_BOUND_SEP_COPY_H
#define RP_SOLVE_BOUND_SEP_COPY_H

#include "solve/lp/copy_rate.h"
#include "solve/lp/formulation.h"

/* An interval of ops at one stage b, and its row (9) or (10). */
struct rp_copy_window {
    uint32_t op;               /* d of (9), a of (10) */
    uint32_t first, last;      /* stages of E */
    int64_t right_ns;          /* the right side without E */
    double extra_ns, slack_ns; /* at the point: the sum of E; right less left side */
};
enum { RP_COPY_WINDOWS = 4 };

/* The term of S[b+1][x]. */
struct rp_copy_term {
    uint32_t x, col;
    int64_t ns;
    double value; /* at the point */
};

struct rp_sep_copy {
    const struct rp_formulation *formulation; /* borrowed; it has columns E and W */
    struct rp_copy_rate in, out;
    uint64_t all_bytes; /* of all tensors */
    /* Per tensor: in[x] and out[x]. NULL if no tensor has bytes. */
    uint64_t *in_ns, *out_ns;
    uint64_t *before_ns; /* per op, and at n_ops: times of the ops before it */
    bool *beside;        /* per tensor: it is in the working set of k */
    uint32_t *next;      /* per tensor: how many of its readers run first before k ends */
    uint32_t *due;       /* per tensor: d; n_ops if there is none */
    double *from;        /* per op: what (9) or (10) gains on the left side there */
    /* Of one stage: the windows of least slack, in that order, and the terms of one. */
    struct rp_copy_window window[RP_COPY_WINDOWS];
    uint32_t n_windows;
    RP_VEC(struct rp_copy_term) terms;
};
void rp_sep_copy_init(struct rp_sep_copy *s, const struct rp_formulation *f);
void rp_sep_copy_fini(struct rp_sep_copy *s); /* safe on a zeroed one */

/* Appends all rows (8). */
void rp_sep_copy_stages(const struct rp_formulation *f, struct rp_row_set *rows);

/* Appends the rows (9) and (10) that point v violates most, or (11) of them, at most one of
 * each for each stage b. Returns how many. It looks at some n_stages (n_ops + n_tensors)
 * places. */
uint32_t rp_sep_copy_find(struct rp_sep_copy *s, const double *v, struct rp_row_set *rows);

#endif
