/* moment_relaxation: the planning problem at one moment: when op c runs for the first time.
 * What it proves holds for every program, whatever the order of its first runs.
 *
 * Some first runs must come before others: an op after those that make what it reads, an
 * ordered op after the ordered one before it, an op that updates a source after those that
 * read its old content. So when c first runs, its ancestors A have run, and none of its
 * descendants D has, c itself included in D. Of all others nothing is known. Let
 *
 *   R[j] = 1: op j runs at that moment or later,
 *   S[x] = 1: tensor x is on the device while c runs, from a run before it.
 *
 * Each run after the moment that reads x finds it there because x has been on the device
 * since then, or because the op that makes it has run since then. Hence every program meets
 *
 *   (8)  R[j] = 1 for j in D;     R[j] <= R[p] + S[x]    p makes x, an input of j
 *        1 <= R[p] + S[x]         p makes x, which is on the device at the end
 *   (9)  S[x] = 1                 x is an input of c, or is held and its maker is in A
 *   (10) sum of bytes[x] S[x] <= limit - bytes of c's outputs - workspace of c
 *   (11) R[j] = 0                 j in A runs once only, or an op of A updates what it read
 *
 * and, since an op of A that runs at the moment or later runs again then,
 *
 *   time >= sum of all times + sum over A of time[j] R[j].
 *
 * Ops of unknown side cost nothing; through them (8) reaches what they read. Programs may
 * run an op many times and free its output when they like, so the minimum of this 0/1
 * program is no schedule, but a bound. It has a column for each op and tensor at most, and
 * no stages.
 *
 * In the given order alone, all ops before c are known to have run and all others not to
 * have, which proves more.
 *
 * With swaps, S[x] = 1 also says that x is on the host alone. Let X be the set of these
 * tensors. All of them have been copied out before c starts, which is at least the times of
 * D before the end; and those that are of use will be copied in after c ends, which is not
 * before the times of A and of c have passed. So for programs of at most `horizon_ns`
 *
 *   sum over X of out_ns <= horizon_ns - times of D
 *   sum over X of in_ns  <= horizon_ns - times of A - time[c]
 *
 * and (10) has as much more room as the faster tensor rates allow in these times
 * (lp/copy_rate.h), or as the host may hold (compare lp/swap_relaxation.h).
 *
 * A source that may live on the host is no tensor of (8) to (11), since a copy can always
 * bring it. What its copies say is in moment_sources.h.
 *
 * Thread safety: const after init.
 */
#ifndef RP_SOLVE_MOMENT_MOMENT_RELAXATION_H
#define RP_SOLVE_MOMENT_MOMENT_RELAXATION_H

#include "solve/core/instance.h"
#include "solve/lp/row_set.h"

/* Which first runs come before which: those of before[start[j]] .. before[start[j + 1] - 1]
 * before that of op j. What follows from other pairs is left out. */
struct rp_first_runs {
    uint32_t *start, *before;
};

void rp_first_runs_init(struct rp_first_runs *f, const struct rp_instance *p);
void rp_first_runs_fini(struct rp_first_runs *f); /* safe on a zeroed one */

/* Where the first run of an op lies: before that of c, after it or at it, or either way. */
enum rp_side { RP_SIDE_EITHER, RP_SIDE_BEFORE, RP_SIDE_AFTER };

/* Fills side[], one per op. f NULL: in the instance's order. */
void rp_find_sides(const struct rp_instance *p, const struct rp_first_runs *f, uint32_t c,
                   enum rp_side *side);

/* By how many bytes the tensors that may have been made before and that c's descendants
 * read, or that are kept, pass the room of (10); 0 if they fit: then (8) to (11) prove
 * nothing. */
uint64_t rp_moment_excess(const struct rp_instance *p, uint32_t c,
                          const enum rp_side *side);

struct rp_moment {
    uint32_t n_cols;
    uint32_t n_run_cols;    /* columns of R come first, then those of S */
    uint32_t *col_id;       /* per column: op of R, tensor of S; RP_NONE: it is not 0/1 */
    uint32_t *run;          /* per op: column or constant */
    uint32_t *held;         /* per tensor: column or constant */
    double *cost;           /* per column, scaled time */
    struct rp_row_set rows; /* the last one is (10), until moment_sources.h adds more */
    bool fits;              /* false: what (9) says needs more than the limit of (10) */
    /* Powers of two, so that scaled numbers are exact below 2^53. */
    double byte_scale, time_scale;
    /* With swaps: the column that adds to the limit, in scaled bytes; else RP_COL_ZERO. Its
     * upper bound is for the caller to set (rp_moment_room). */
    uint32_t room;
    uint64_t before_ns, after_ns; /* times of A and c; times of D */
    /* With sources that may live on the host: e, which is all that costs, P and Q in scaled
     * time, and the scaled bytes of the sources that stay. Else RP_COL_ZERO. */
    uint32_t extra, until, from, resident;
};

/* side[] is that of op c. The caller owns *m. */
void rp_moment_init(struct rp_moment *m, const struct rp_instance *p, uint32_t c,
                    const enum rp_side *side);
void rp_moment_fini(struct rp_moment *m); /* safe on a zeroed one */

/* For moment_sources.h: a further column, and a row without terms. */
uint32_t rp_moment_add_column(struct rp_moment *m, uint32_t id, double cost);
void rp_moment_begin_row(struct rp_moment *m, double rhs);

/* The upper bound of the column `room`, in scaled bytes, for plans of at most horizon_ns.
 */
double rp_moment_room(const struct rp_moment *m, const struct rp_instance *p,
                      uint64_t horizon_ns);

#endif
