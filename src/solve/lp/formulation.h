/* formulate: the planning problem as a linear program in 0/1 columns R and S, for any
 * solver. Equation numbers are used in the code and in ARCHITECTURE.md.
 *
 *   R[t][j] = 1: op j runs in stage t.   S[t][x] = 1: tensor x is held as stage t begins.
 *
 *   (1) minimise   sum of time[j] R[t][j]
 *   (2) dep        R[t][j] <= R[t][p] + S[t][x]         each input x (made by p) of op j
 *   (3) hold       S[t+1][x] <= S[t][x] + R[t][p]       p makes x
 *   (4) mem        sum of bytes[x] L[t][k][x] + workspace[k] R[t][k] <= limit      k <= t
 *
 * L[t][k][x] = 1 when x is on the device while op k runs in stage t. It is no column: (4)
 * stands for all rows got by writing for each x any one of these terms, each of which is a
 * lower bound of L:
 *   (4a) if x is made by an op <= k:   S[t+1][x];  R[t][r] for a reader r with k <= r <= t;
 *   (4b) if k makes x:                 R[t][k];
 *   (4c) if no reader r < k of x may run in stage t:   S[t][x].
 * At a given point the largest term of each x gives the most violated of these rows, so
 * rows (4) are made on demand (rp_sep_memory_*).
 *
 * (4a) and (4b) hold for every sound schedule as rp_stage_eval counts memory. (4c) holds
 * for tidy ones: S[t][x] = 1 only where x is read in stage t or held on (S[t+1][x] = 1).
 * Clearing what is not tidy frees memory, forces no run, and takes runs away, so some
 * optimal schedule is tidy (rp_schedule_prune). A 0/1 point that meets (2)-(4) is a
 * schedule that fits: with R the closure of S, (4) at the op that runs has every live
 * tensor in it.
 *
 * Which columns exist (all reductions keep some optimal schedule, `once` apart):
 *   - R[t][t] = 1. R[t][j], t > j, exists while j may run and some op >= t (or the end of
 *     the step) can still want what it makes, through ops that may run again (r_last).
 *   - S[t][x] exists from the stage after its maker to the last that can want it (s_last).
 *   - What cannot be made again is held up to its last first-run reader: S = 1.
 *   - A tensor of no bytes is held as long as it can be wanted, and its maker, if it makes
 *     nothing else, never runs again.
 *   - If neither the maker nor a reader of x may run in stage t, then x is not touched
 *     there: tidy and (3) give S[t+1][x] = S[t][x], one column for both ("merged").
 *
 * With swaps (o->horizon_ns) it is a relaxation only, swap_relaxation.h. So it is with
 * o->max_stages, for graphs that are large: then a stage t is what happens up to the first
 * run of op last_of[t], with the first runs of several ops in it, those with stage_of[j] =
 * t. R[t][j] = 1 for those. What is said above holds with these words, but of rows (4)
 * there are those of k = last_of[t] only: an op may run again in the stage of its first
 * run, at no cost.
 */
#ifndef RP_SOLVE_LP_FORMULATION_H
#define RP_SOLVE_LP_FORMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"
#include "solve/core/schedule.h"

/* In place of a column: a constant. */
#define RP_COL_ZERO (UINT32_MAX - 1)
#define RP_COL_ONE UINT32_MAX

struct rp_formulation_options {
    uint64_t horizon_ns; /* above 0: for plans that may swap and take at most that long */
    uint32_t max_stages; /* above 0: no more stages than that */
    const bool *once; /* per op, or NULL: ops that shall not run again. A restriction: its
                         optimum is no lower bound of the problem's */
    bool no_merge;    /* a column for every (t, x): for comparison */
    /* What is known of the schedules that matter: per column of `base`, 0 or 1, or 2 for
     * what is open. What follows from it by (2), (3) and tidiness is fixed too. */
    const struct rp_formulation *base;
    const uint8_t *known;
};

struct rp_formulation {
    const struct rp_instance *problem; /* borrowed */
    uint32_t n_stages;
    uint32_t *stage_of;          /* per op: of its first run */
    uint32_t *last_of;           /* per stage: the op that ends it */
    uint32_t n_cols, n_run_cols; /* R columns come first */
    bool empty;                  /* what is known contradicts itself: no schedule is left */
    uint32_t *r_last;            /* per op: no later stage may run it */
    uint32_t *r_start;           /* per op: where R[stage_of[op] + 1][op] is in r_col */
    uint32_t *r_col;             /* column or constant */
    uint32_t
        *s_last; /* per tensor: last t of S[t][x]; its maker's stage if there is none */
    uint32_t *s_start; /* per tensor: where S[maker's stage + 1][x] is in s_col */
    uint32_t *s_col;   /* column or constant */
    uint32_t *col_id;  /* per column: op of R, tensor of S */
    uint32_t *col_t;   /* per column: its (first) stage */
    /* The right side of rows (4), for j that ends its stage: of k = j; of the stage's other
     * k at n_ops + j. */
    uint64_t *limit_bytes;
    /* Both scales are powers of two, so scaling is exact below 2^53. Scaled bytes: the
     * largest limit is in [512, 1024). Scaled times: the longest op is in [1, 2). */
    double byte_scale, time_scale;
    double *cost;      /* per column, scaled time */
    double fixed_cost; /* of the first runs, scaled time */
};

/* `p` must outlive `f`, o->base need not. The caller owns `f`. */
void rp_formulation_init(struct rp_formulation *f, const struct rp_instance *p,
                         const struct rp_formulation_options *o);
void rp_formulation_fini(struct rp_formulation *f); /* safe on a zeroed one */

/* The limits for plans that swap and take at most horizon_ns, in the order of limit_bytes.
 */
void rp_formulation_swap_limits(const struct rp_formulation *f, uint64_t horizon_ns,
                                uint64_t *limit_bytes);

/* Column or constant of R[t][j]; any t and j. */
static inline uint32_t rp_formulation_run(const struct rp_formulation *f, uint32_t t,
                                          uint32_t j) {
    uint32_t own = f->stage_of[j];
    if (t == own)
        return RP_COL_ONE;
    if (t < own || t > f->r_last[j])
        return RP_COL_ZERO;
    return f->r_col[f->r_start[j] + (t - own - 1)];
}

/* True if op j may run in stage t (first run included). */
static inline bool rp_formulation_may_run(const struct rp_formulation *f, uint32_t t,
                                          uint32_t j) {
    return rp_formulation_run(f, t, j) != RP_COL_ZERO;
}

/* The stage in which x is first made. */
static inline uint32_t rp_formulation_first(const struct rp_formulation *f, uint32_t x) {
    return f->stage_of[f->problem->producer[x]];
}

/* Column or constant of S[t][x]; any t up to n_stages, any x. */
static inline uint32_t rp_formulation_held(const struct rp_formulation *f, uint32_t t,
                                           uint32_t x) {
    uint32_t first = rp_formulation_first(f, x);
    if (t <= first || t > f->s_last[x])
        return RP_COL_ZERO;
    return f->s_col[f->s_start[x] + (t - first - 1)];
}

/* The right side of rows (4), in scaled bytes. */
static inline double rp_formulation_limit(const struct rp_formulation *f, uint32_t t,
                                          uint32_t k) {
    uint32_t last = f->last_of[t];
    return (double)f->limit_bytes[k == last ? k : f->problem->n_ops + last] * f->byte_scale;
}

/* The first k of which stage t has a row (4). */
static inline uint32_t rp_formulation_first_row(const struct rp_formulation *f,
                                                uint32_t t) {
    return f->n_stages < f->problem->n_ops ? f->last_of[t] : 0;
}

/* Used while a formulation is made, before columns have numbers. */
#define RP_COL_OPEN (UINT32_MAX - 2)
/* Constants that follow from those in r_col and s_col; sets f->empty if they clash. */
void rp_formulation_propagate(struct rp_formulation *f);

/* Value of a column or constant at a point (one value a column). */
static inline double rp_formulation_value(const double *v, uint32_t col) {
    return col == RP_COL_ZERO ? 0 : col == RP_COL_ONE ? 1 : v[col];
}

/* Rows  sum of coef[i] x[col[i]] <= rhs,  row i from start[i] to start[i + 1] - 1. */
enum rp_row_kind { RP_ROW_DEP, RP_ROW_HOLD, RP_ROW_MEM, RP_ROW_WINDOW, RP_ROW_COVER };
struct rp_row_name {
    enum rp_row_kind kind;
    uint32_t t;
    uint32_t op;   /* dep: the reader j. mem, cover: k. window: r. else RP_NONE */
    uint32_t x;    /* dep, hold, window: the tensor. else RP_NONE */
    uint32_t from; /* window: its first stage. else 0 */
};
struct rp_row_set {
    uint32_t n, n_terms, n_details, room, room_terms, room_details;
    uint32_t *start, *col;
    double *coef, *rhs;
    struct rp_row_name *name;
    /* What else it takes to derive the row, detail_start as start. mem and cover: pairs of
     * a tensor and its term, an op r for R[t][r] or one of the two below (a cover follows
     * from the memory row it names). window: the tensors of its path. */
    uint32_t *detail_start, *detail;
};
#define RP_TERM_NEXT (UINT32_MAX - 1) /* S[t+1][x] */
#define RP_TERM_NOW UINT32_MAX        /* S[t][x] */

void rp_row_set_fini(struct rp_row_set *rows);
/* Starts a row, then appends terms to it; constants go to the right-hand side. No column
 * may come twice in a row. */
void rp_row_set_begin(struct rp_row_set *rows, struct rp_row_name name, double rhs);
void rp_row_set_term(struct rp_row_set *rows, uint32_t col, double coef);
void rp_row_set_detail(struct rp_row_set *rows, uint32_t detail);
/* Appends row i of `from`. */
void rp_row_set_copy(struct rp_row_set *rows, const struct rp_row_set *from, uint32_t i);
/* Left side of row i at a point. */
double rp_row_set_left(const struct rp_row_set *rows, uint32_t i, const double *v);

/* Appends all rows (2) and (3) but those that hold by themselves. */
void rp_formulation_rows(const struct rp_formulation *f, struct rp_row_set *rows);

/* The schedule with S[t][x] = 1 where the column's value is above `threshold`. */
void rp_formulation_schedule(const struct rp_formulation *f, const double *v,
                             double threshold, struct rp_schedule *s);
/* The reverse: the 0/1 point of a sound schedule and its runs. False if some hold or run
 * of it has no column, or a merged column would need both values: tidy it first. */
bool rp_formulation_point(const struct rp_formulation *f, const struct rp_schedule *s,
                          double *v);

/* ---- memory rows ---- */

/* Makes rows (4) of one formulation. Working memory; one for each thread. */
struct rp_sep_memory {
    const struct rp_formulation *form;
    double *need;     /* per tensor: largest term (4a), (4b) so far */
    uint32_t *unseen; /* per tensor: readers < k that may run in the stage */
    double *live;     /* per tensor: its L in the sweep */
    double *sum;      /* per column: coefficient in the row being made; zero between */
    uint32_t *used;   /* columns with one */
};
void rp_sep_memory_init(struct rp_sep_memory *m, const struct rp_formulation *f);
void rp_sep_memory_fini(struct rp_sep_memory *m);

/* The most violated row (4) of each k <= t (with several ops in a stage: of its last one)
 * at point v: over[k] = left side - limit, scaled bytes. O(tensors + edges) for all k
 * together.
 */
void rp_sep_memory_sweep(struct rp_sep_memory *m, uint32_t t, const double *v,
                         double *over);

/* Appends that row for (t, k) to `rows`. v == NULL: constants where there are, then
 * S[t+1][x], then S[t][x]: a fair first row. */
void rp_sep_memory_row(struct rp_sep_memory *m, uint32_t t, uint32_t k, const double *v,
                       struct rp_row_set *rows);

#endif
