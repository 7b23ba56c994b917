/* formulation: the planning problem as a linear program over 0/1 columns R and S. Any
 * solver may use it. The equation numbers are those of the code and of ARCHITECTURE.md.
 *
 *   R[t][j] = 1: op j runs in stage t.   S[t][x] = 1: tensor x is held as stage t begins.
 *
 *   (1) minimise   sum of time[j] R[t][j]
 *   (2) dep        R[t][j] <= R[t][p] + S[t][x]         each input x (made by p) of op j
 *   (3) hold       S[t+1][x] <= S[t][x] + R[t][p]       p makes x
 *   (4) mem        sum of bytes[x] L[t][k][x] + workspace[k] R[t][k] <= limit      k <= t
 *
 * Cuts and the bound go on with (5) path cuts in sep_path.h, (6) lifted covers in
 * sep_cover.h, and (7) the dual bound in bound/safe_dual.h.
 *
 * R and S are those of Checkmate (Jain et al., "Checkmate: breaking the memory wall with
 * optimal tensor rematerialization", MLSys 2020). Checkmate has extra columns for what is
 * freed and for memory in use. Here rows (4) take their place.
 *
 * L[t][k][x] = 1 when x is on the device while op k runs in stage t. L is not a column.
 * Each of these terms is a lower bound of it:
 *   (4a) if x is made by an op <= k:   S[t+1][x];  R[t][r] for a reader r with k <= r <= t;
 *   (4b) if k makes x:                 R[t][k];
 *   (4c) if no reader r < k of x may run in stage t:   S[t][x].
 * If op k cannot rewrite its outputs in place, a run that finds output y on the device
 * needs as much workspace again: (4d) bytes[y] (S[t][y] + R[t][k] - 1), if that is
 * positive, is added to the left side. (4) stands for all the rows that result from writing
 * one of these terms for each x. At a given point the largest term of each x gives the row
 * that is violated most, so rows (4) are made on demand (sep_memory.h).
 *
 * (4a) and (4b) hold for every sound schedule as rp_stage_eval counts memory. (4c) holds
 * for pruned schedules: there S[t][x] = 1 only if stage t reads x or S[t+1][x] = 1. Pruning
 * frees memory and never adds a run, so some optimal schedule is pruned
 * (rp_schedule_prune). Conversely, a 0/1 point that meets (2) to (4) is a schedule that
 * fits: if R is the closure of S, row (4) of the op that runs counts every live tensor.
 *
 * Not every (t, j) and (t, x) has a column. Each reduction keeps some optimal schedule:
 *   - R[t][t] = 1. For t > j, R[t][j] exists as long as op j may run again and some op >= t
 *     (or the end of the step) can still want what j makes, directly or through other ops
 *     that may run again (r_last).
 *   - S[t][x] exists from the stage after its maker to the last stage that can want x
 *     (s_last).
 *   - From the last stage on that can make a tensor, it is held up to its last first-run
 *     reader: S = 1. A pinned tensor is held in all stages after its first making.
 *   - A tensor of no bytes is held as long as anything can want it. If its maker makes
 *     nothing else, the maker never runs again.
 *   - If neither the maker nor a reader of x may run in stage t, then stage t does not
 *     touch x. In a pruned schedule that meets (3), S[t+1][x] = S[t][x], so both share a
 *     column ("merged").
 *
 * Two options make it a relaxation whose optimum is only a lower bound:
 *   - horizon_ns admits swaps, see swap_relaxation.h. With copy_times there are columns
 *     E[t] and W[t] too (bound/sep_copy.h), in units of slack_ns, which no stage exceeds
 *     beside its first runs;
 *   - max_stages puts several first runs into one stage, for large graphs. Stage t then
 *     ends with the first run of op last_op[t], and holds the first runs of all ops j with
 *     stage_of[j] = t, for which R[t][j] = 1. All of the above holds with these
 *     definitions, except that rows (4) exist for k = last_op[t] only, and an op may run
 *     again at no cost in the stage of its first run.
 *
 * Scaling: bytes and times are multiplied by powers of two, which is exact below 2^53.
 *
 * A formulation never changes once it is made, except that its owner may replace
 * limit_bytes and set the slack. Several threads may read one at the same time.
 */
#ifndef RP_SOLVE_LP_FORMULATION_H
#define RP_SOLVE_LP_FORMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"
#include "solve/core/schedule.h"
#include "solve/lp/row_set.h"

enum { RP_UNDECIDED = 2 }; /* in `known`, beside 0 and 1 */

struct rp_formulation_options {
    uint64_t horizon_ns; /* above 0: for plans that may swap and take at most that long */
    bool copy_times;     /* with columns E and W. horizon_ns is above 0 */
    uint32_t max_stages; /* above 0: at most so many stages */
    bool no_merge;       /* a column for every (t, x), for comparison */
    /* Values that the schedules of interest have: 0, 1 or RP_UNDECIDED for each column of
     * `base`. What follows from them by (2), (3) and pruning is fixed as well. */
    const struct rp_formulation *base;
    const uint8_t *known;
};

struct rp_formulation {
    const struct rp_instance *instance; /* borrowed */
    uint32_t n_stages;
    uint32_t *stage_of; /* per op: the stage of its first run */
    uint32_t *last_op;  /* per stage: the op that ends it */
    /* Columns of R come first. Those of E and W come last, from copy_time_col on: n_cols if
     * there are none. */
    uint32_t n_cols, n_run_cols, copy_time_col;
    uint64_t slack_ns; /* what a plan within the horizon takes longer than all ops; or 1 */
    bool empty;        /* the known values contradict each other: no schedule is left */
    uint32_t *r_last;  /* per op: no later stage may run it */
    uint32_t *r_start; /* per op: where R[stage_of[op] + 1][op] is in r_col */
    uint32_t *r_col;   /* column or constant */
    uint32_t *s_last;  /* per tensor: last t of S[t][x]; its maker's stage if none */
    uint32_t *s_start; /* per tensor: where S[maker's stage + 1][x] is in s_col */
    uint32_t *s_col;   /* column or constant */
    uint32_t *col_id;  /* per column: op of R, tensor of S, RP_NONE for E and W */
    uint32_t *col_t;   /* per column: its (first) stage */
    /* The right side of rows (4) in bytes, for each op j that ends its stage. At j: of the
     * row of k = j. At n_ops + j: of the rows of the stage's other k. */
    uint64_t *limit_bytes;
    /* Scaled bytes: the largest limit is in [512, 1024). Scaled times: the longest op is in
     * [1, 2). */
    double byte_scale, time_scale;
    double *cost;      /* per column, scaled time */
    double fixed_cost; /* of all runs that are constants 1, scaled time */
};

/* `p` must outlive `f`; o->base need not. The caller owns `f`. */
void rp_formulation_init(struct rp_formulation *f, const struct rp_instance *p,
                         const struct rp_formulation_options *o);
void rp_formulation_fini(struct rp_formulation *f); /* safe on a zeroed one */

/* The limits, laid out as limit_bytes, for plans that swap and take at most horizon_ns. */
void rp_formulation_swap_limits(const struct rp_formulation *f, uint64_t horizon_ns,
                                uint64_t *limit_bytes);

/* Changes the unit of E and W to that for plans of at most horizon_ns, and their costs. The
 * caller changes coefficients of rows that it has. */
void rp_formulation_set_slack(struct rp_formulation *f, uint64_t horizon_ns);

/* Column or constant of R[t][j], for any t and j. */
static inline uint32_t rp_formulation_run(const struct rp_formulation *f, uint32_t t,
                                          uint32_t j) {
    uint32_t own = f->stage_of[j];
    if (t == own)
        return RP_COL_ONE;
    if (t < own || t > f->r_last[j])
        return RP_COL_ZERO;
    return f->r_col[f->r_start[j] + (t - own - 1)];
}

/* May op j run in stage t, its first run included? */
static inline bool rp_formulation_may_run(const struct rp_formulation *f, uint32_t t,
                                          uint32_t j) {
    return rp_formulation_run(f, t, j) != RP_COL_ZERO;
}

/* The stage in which x is first made. */
static inline uint32_t rp_formulation_maker_stage(const struct rp_formulation *f,
                                                  uint32_t x) {
    return f->stage_of[f->instance->producer[x]];
}

/* Column or constant of S[t][x], for any t up to n_stages and any x. */
static inline uint32_t rp_formulation_held(const struct rp_formulation *f, uint32_t t,
                                           uint32_t x) {
    uint32_t first = rp_formulation_maker_stage(f, x);
    if (t <= first || t > f->s_last[x])
        return RP_COL_ZERO;
    return f->s_col[f->s_start[x] + (t - first - 1)];
}

/* The right side of row (4) of (t, k), in scaled bytes. */
static inline double rp_formulation_limit(const struct rp_formulation *f, uint32_t t,
                                          uint32_t k) {
    uint32_t last = f->last_op[t];
    return (double)f->limit_bytes[k == last ? k : f->instance->n_ops + last] *
           f->byte_scale;
}

/* The first k for which stage t has a row (4). */
static inline uint32_t rp_formulation_first_row(const struct rp_formulation *f,
                                                uint32_t t) {
    return f->n_stages < f->instance->n_ops ? f->last_op[t] : 0;
}

static inline bool rp_formulation_has_copy_times(const struct rp_formulation *f) {
    return f->copy_time_col < f->n_cols;
}
/* The unit of E and W, scaled. */
static inline double rp_formulation_slack(const struct rp_formulation *f) {
    return (double)f->slack_ns * f->time_scale;
}

/* Column of E[t], and that of W[t], if there are any. */
static inline uint32_t rp_formulation_extra(const struct rp_formulation *f, uint32_t t) {
    return f->copy_time_col + t;
}
static inline uint32_t rp_formulation_wait(const struct rp_formulation *f, uint32_t t) {
    return f->copy_time_col + f->n_stages + t;
}

/* Value of a column or constant at point v, which has one value per column. */
static inline double rp_formulation_value(const double *v, uint32_t col) {
    return col == RP_COL_ZERO ? 0 : col == RP_COL_ONE ? 1 : v[col];
}

/* Appends all rows (2) and (3), except those that every 0/1 point meets. */
void rp_formulation_rows(const struct rp_formulation *f, struct rp_row_set *rows);

/* The column or constant of `to` for what column `col` of `from` stands for, of R or S.
 * Both have the same instance and stages. */
uint32_t rp_formulation_same_col(const struct rp_formulation *from, uint32_t col,
                                 const struct rp_formulation *to);

/* Appends row i of `rows`, which is in the columns of `from`, in those of `to`, without its
 * details. `to` has been made with base `from`, and the same stages. `sum` is zero per
 * column of `to`, before and after. */
void rp_formulation_carry_row(const struct rp_formulation *from,
                              const struct rp_formulation *to,
                              const struct rp_row_set *rows, uint32_t i, double *sum,
                              struct rp_row_set *out);

/* The schedule with S[t][x] = 1 where the column's value is above `threshold`. `s` has the
 * instance's shape. */
void rp_formulation_schedule(const struct rp_formulation *f, const double *v,
                             double threshold, struct rp_schedule *s);

/* The reverse: writes the 0/1 point of a sound schedule and its runs to `v`. The schedule
 * is pruned first. False, and `v` has no meaning, if the formulation cannot represent it: a
 * hold or a run has no column, or a merged column would need two values. */
bool rp_formulation_point(const struct rp_formulation *f, const struct rp_schedule *s,
                          double *v);

#endif
