/* interval_chains: cuts of the interval model that say how long it takes until a run has
 * what it reads.
 *
 * Without them a fractional point has a tensor recomputed by one half and copied in by the
 * other, and waits for the longer half only. But a run reads one tensor, made in one way.
 *
 * Take a run of op r in stage t, and a path y0, y1, .., ym of tensors: y0 is an input of r,
 * each other one an input of the op that makes the one before. W is 1 if r runs: R[t][r],
 * or 1 for the first run of op t, or for the end t = n and a kept y0. T[i] is the time of
 * the makers of y0 .. y(i-1), and of r if r < t. If r runs, let yi be the first tensor of
 * the path that is readable at moment t (H), or of which a copy is first read in stage t
 * (U). Those before it are made in stage t, one after the other, since nothing else brings
 * them. So d[t] is at least what yi takes, and T[i] after that:
 *
 *   H[t][yi] = 1   nothing.
 *   U[t][yi] = 1   its copy, in[yi], if that begins at moment s or later (not F[s][yi]).
 *                  Within stages s .. t, D(s-1, t) of it may pass beside first runs. If yi
 *                  is also made again in stage t, by op q, then the path may read that one,
 *                  and the copy may come later, once the next run has read what q made.
 *                  That makes time[q] + time[next] + in[yi] or more, so T[i] + again[yi],
 *                  again[yi] = min(in[yi], max(time[q], in[yi] + time[q] - T' )),
 *                  where T' is T[i] less the next run. And if yi was not freed for the host
 *                  before stage t, all of its making, copy out and copy in are in stage t.
 *   neither        there is none: the makers of all, T[m+1].
 *
 * So for any lambda <= T[m+1], and (z)+ = max(z, 0),
 *
 *   (M13e)  sum of d[u], s <= u <= t >= lambda W - sum over i of
 *               (lambda - T[i])+ H[t][yi] + a U[t][yi] + b min(U[t][yi], O[t-1][yi])
 *               + c min(U[t][yi], O[t-1][yi], R[t][q]) + f min(U[t][yi], F[s][yi]),
 *           a = (lambda - max(T[i] + in[yi] - D(s-1, t), time[q] + out[yi] + in[yi]))+,
 *           a + b = (lambda - T[i] - in[yi] + D(s-1, t))+,
 *           a + b + c = (lambda - T[i] - again[yi] + D(s-1, t))+,
 *           a + b + f = (lambda - T[i])+,
 *
 * where the copy takes nothing if D(s-1, t) is more, and each min is any one of its values.
 *
 * Copies that are first read in stages s .. t-1 end before moment t, and share the queue
 * with that of yi. So the row also holds without D(s-1, t) in its coefficients if
 *
 *   sum of in[x] (U[s][x] + .. + U[t-1][x] - F[s][x]), over any x, - D(s-1, t)
 *
 * is added to its right side.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_CHAINS_H
#define RP_SOLVE_MILP_INTERVAL_CHAINS_H

#include "solve/milp/interval_model.h"

struct rp_interval_chains {
    const struct rp_interval_model *model; /* borrowed */
    double longest_in;                     /* scaled */
    const double *v, *d_before;            /* the point; as interval_cuts.h; borrowed */
    double *copied;                        /* per stage t and tensor: sum of U[u], u < t */
    struct rp_interval_chain *now, *best;  /* the path that is extended; the best so far */
    uint64_t steps;                        /* of the last call */
};
void rp_interval_chains_init(struct rp_interval_chains *c,
                             const struct rp_interval_model *m);
void rp_interval_chains_fini(struct rp_interval_chains *c); /* safe on a zeroed one */

/* Appends cuts that v violates by `least` (scaled time) or more: for each stage and op r
 * the best of those without other copies, and where a stage has none of these, of those
 * with copies. d_before[t] is the sum of d[u], u < t. Returns how many. */
uint32_t rp_interval_chains_find(struct rp_interval_chains *c, const double *v,
                                 const double *d_before, double least,
                                 struct rp_interval_row *row, struct rp_row_set *rows);

#endif
