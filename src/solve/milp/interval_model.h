/* interval_model: keep, recompute and swap as one mixed-integer linear program, exact for
 * the time line of docs/formats.md. Where a copy lies on its queue is no variable. Instead
 * there are rows for intervals of stages: what must be copied within an interval takes no
 * longer than the interval.
 *
 * Stage t = 0 .. n-1 is what happens up to and including the first run of op t; stage n is
 * what comes after the last first run. Moment t is the point between stages t-1 and t. p is
 * the op that makes x, D(a, b) the sum of time[u] for a < u < b, and Q[t][x] stands for
 * O[t][x] - O[t-1][x], H[t][x] for S[t][x] - F[t][x], B[t][x] for
 * F[t+1][x] - F[t][x] + U[t][x].
 *
 *   R[t][j]  op j runs again in stage t (j < t)
 *   S[t][x]  x has storage on the device at moment t
 *   F[t][x]  ... for a copy from the host that nothing has read yet. H: x can be read
 *   U[t][x]  in stage t something reads such a copy for the first time. B: one begins
 *   O[t][x]  by the end of stage t, x has been copied out and then freed. Q: in stage t
 *   V[t][x]  x is available at moment t: on the device or the host, and it is read, or at
 *            the end kept, before it is made again
 *   d[t]     time from moment t until the first run of op t begins (until all is done)
 *
 *   (M1)  minimise  sum of d[t] + sum of time[t]
 *   (M2)  time      sum over j of time[j] R[t][j] <= d[t]
 *   (M3)  read      R[t][j] <= R[t][p] + H[t][x] + U[t][x]     each input x of op j; for
 *                   R[t][t] = 1; and for kept x with 1 in place of R[t][j], t = n
 *   (M4)  hold      H[t+1][x] <= H[t][x] - Q[t][x] + R[t][p] + U[t][x]
 *   (M5)  flight    F[t][x] <= F[t+1][x] + U[t][x],   F[t][x] <= S[t][x]
 *   (M6)  host      F[t+1][x] <= O[t][x],   U[t][x] <= O[t][x],   O[t-1][x] <= O[t][x]
 *   (M7)  due       O[b][x] - O[t-1][x] <= H[t][x] + sum of R[u][p], t <= u <= b
 *   (M8)  memory    sum of bytes[x] S[t+1][x] over x that op t neither reads nor makes
 *                   <= limit - what op t reads, makes and works in
 *   (M9)  memory k  sum over paths of bytes (1 - U[t][x] - .. - R[t][p]) for any x that
 *                   op t, or at t = n the end, reads; H[t+1][x] in place of 1 for any other
 *                   + (what op k reads, makes and works in) R[t][k] <= limit
 *                   paths of tensors that x is made of: milp_cuts/interval_memory.h
 *   (M10) out       sum of out[x] O[b][x] over x made by an op p with a <= p < b
 *                   <= sum of d[u], a < u <= b, + D(a, b)
 *   (M11) in        sum over any x of in[x] (sum of U[u][x], s <= u <= t, - F[s][x])
 *                   <= sum of d[u], s <= u <= t, + D(s - 1, t)
 *   (M12) host limit   sum of bytes[x] O[n][x] <= host limit
 *   (M13) covers    of (M8), (M10), (M11) and (M16), and more: milp_cuts/interval_cuts.h
 *   (M14) available R[t][j] <= R[t][p] + V[t][x]               as (M3)
 *   (M15)           V[t+1][x] <= V[t][x] + R[t][p]
 *   (M16) room      sum of bytes[x] V[t+1][x] over x that op t neither reads nor makes
 *                   <= room[t] - what op t reads, makes and works in
 *   (M17)           V[t][x] <= H[t][x] + O[t-1][x]
 *
 * (M9) to (M11) and (M13) are made on demand (milp_cuts/interval_cuts.h), the others are
 * written out. room[t] is the limit and the most bytes of tensors that can be on the host
 * alone while op t runs, in a program within the horizon (lp/swap_relaxation.h). So (M14)
 * to (M17) are the rows of the program without swaps, with a larger limit. They say little
 * where the horizon leaves much time for copies. Where it does not, they say how much must
 * be recomputed, and (M2) to (M13) do not: there a tensor may be copied in fractions.
 *
 * This is a relaxation: every program whose first runs come in the instance's order gives a
 * point that meets all rows and costs as much as the program takes. Copies and frees may
 * stand anywhere, ops may run often, in any order, and after the last first run. So the
 * optimum is a lower bound for all of them. Take from the program what nobody reads
 * (useless copies and runs), and read its point off: R, S and O as stated. x is in flight
 * (F) while its copy in has begun and no run has read it. d[t] is the time that truly
 * passes, so a second run of an op in the same stage is a part of d. O: the free that
 * counts is the first one after the copy out began; if x is made again in that same stage
 * before any copy in, it is the next one. Then:
 *   - (M3) The storage that a run reads was there at moment t, or a run of p made it in
 *     stage t, or a copy in brought it, and then it is read first in stage t.
 *   - (M4), (M5), (M6) follow in the same way. A tensor is copied out once at most, and a
 *     copy in can only begin when it was freed after that.
 *   - (M7) What is freed in stages t .. b was on the device at moment t or is made later.
 *   - (M9) What is there at moment t+1, or what op t reads, and is neither made, nor read
 *     first, in stage t, was there all along. If it was made there, so was what it was last
 *     made of until then.
 *   - (M10) A copy out begins at moment p+1 or later, and the free waits for it. (M11) What
 *     is read first by the end of an interval and was not in flight when it began, was
 *     copied in it. Both queues do one copy at a time.
 *   - (M14), (M15) What is read in stage t, or available at moment t+1, and not made in
 *     stage t, was available at moment t. (M17) If it could not be read then, it had been
 *     freed after a copy out. (M16) What is available at moment t+1 and not made by op t
 *     is on the device while op t runs, or on the host alone.
 *
 * Three assumptions make it smaller: first runs come in the instance's order, sources stay
 * where they are, and the program takes at most horizon_ns. Runs and copies that cannot be
 * part of such a program have no column (interval_reach.h). Nor has S[t][x] where x does
 * not fit beside op t-1, which a linear program would let it do in part.
 *
 * The optimum can be below that of all programs: a copy may be preempted by others on its
 * queue, frees and copies may stand at different places of a stage for different rows, and
 * within a stage (M9) sees only what stays and what that is made of.
 *
 * A window has the stages first .. last only. It is a relaxation too: of a program of the
 * whole step, it keeps what happens in these stages. What was made before stage `first` is
 * on the device or the host when it begins, as far as (M8) and (M9) allow, and nothing
 * after stage `last` reads anything. What only ops far from it make counts as there, and as
 * no bytes. So the sum of its d[t] is no more than that of the
 * whole step's program, and sums of windows that share no stage add up.
 *
 * Times are scaled by time_scale and bytes by byte_scale, both powers of two.
 *
 * Const once it is made: any number of threads may read one.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_MODEL_H
#define RP_SOLVE_MILP_INTERVAL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"
#include "solve/lp/row_set.h"
#include "solve/milp/interval_reach.h"

enum rp_interval_kind {
    RP_INTERVAL_R,
    RP_INTERVAL_S,
    RP_INTERVAL_F,
    RP_INTERVAL_U,
    RP_INTERVAL_O,
    RP_INTERVAL_V,
    RP_INTERVAL_D
};
enum { RP_INTERVAL_KINDS = 7 };

struct rp_interval_col {
    enum rp_interval_kind kind;
    uint32_t t, id; /* id: op of R, tensor of S, F, U and O; 0 for d */
};

/* What is known of columns before a model is made. The optimum of such a restricted model
 * is no bound: it is that of the programs that agree with what is known. */
enum rp_interval_known {
    RP_INTERVAL_OPEN,
    RP_INTERVAL_ZERO,
    RP_INTERVAL_ONE,
    RP_INTERVAL_AS_BEFORE /* one column with that of the stage before */
};
struct rp_interval_scope {
    /* Per kind, laid out as rp_interval_cell says; NULL: open. There are no columns V, as
     * they only serve bounds. */
    uint8_t *known[RP_INTERVAL_V];
};

struct rp_interval_model {
    const struct rp_instance *instance; /* borrowed */
    uint64_t horizon_ns;                /* a multiple of divisor_ns */
    uint64_t divisor_ns;                /* of all times that a program can take */
    bool empty;                         /* no program takes horizon_ns or less */
    double time_scale, byte_scale;
    double fixed_cost; /* the sum of all op times, scaled */
    double span;       /* what the horizon leaves beside that, scaled: d is at most this */
    uint32_t first, last;       /* its stages: 0 and n_ops, or those of a window */
    double *since_start;        /* per op t: scaled time of the ops before it; n_ops + 1 */
    uint32_t n_cols, n_integer; /* columns of d come last; they alone are continuous */
    struct rp_interval_col *col;
    /* Per kind, stage and op or tensor: a column, RP_COL_ZERO or RP_COL_ONE. Several have
     * one column if the scope says so; `col` then has the first of them. */
    uint32_t *at[RP_INTERVAL_KINDS];
    double *held_bytes;     /* per tensor: scaled; 0 if it is assumed (interval_reach.h) */
    double *working_set;    /* per op: what it reads, makes and works in; scaled bytes */
    uint64_t *room_bytes;   /* per op t: room[t]; NULL: no columns V */
    struct rp_row_set rows; /* all that are written out; row_number says which they are */
    uint8_t *row_number;    /* per row: the 2 of (M2) and so on */
    uint32_t cap_rows;
};

/* The instance allows swaps or not. It must outlive the model, which the caller owns.
 * horizon_ns is at least the sum of all op times. It is lowered to a multiple of the
 * greatest common divisor of all times of runs and copies, since the time of a program is a
 * sum of some of them. */
void rp_interval_model_init(struct rp_interval_model *m, const struct rp_instance *p,
                            uint64_t horizon_ns);
/* The same, restricted to a scope. The columns d are open. */
void rp_interval_model_init_within(struct rp_interval_model *m, const struct rp_instance *p,
                                   uint64_t horizon_ns,
                                   const struct rp_interval_scope *scope);
/* A window (interval_reach.h), for programs of the whole step that take horizon_ns at most.
 * Only points whose d[t] are most_ns together or less are of interest. It has no columns V.
 * The optimum is the sum of all op times and of the d[t] of the window. */
void rp_interval_model_init_window(struct rp_interval_model *m, const struct rp_instance *p,
                                   uint64_t horizon_ns, const struct rp_interval_window *w);
void rp_interval_model_fini(struct rp_interval_model *m); /* safe on a zeroed one */

/* A name for files of other solvers: "S_12_conv3", with the graph's names cut to letters,
 * digits and underscores, and the number where that is not unique. The caller frees it. */
char *rp_interval_col_name(const struct rp_interval_model *m, uint32_t col);
char *rp_interval_row_name(const struct rp_interval_model *m, uint32_t row);

/* Where a table has what belongs to a stage t, 0 to n_ops + 1, and an op or a tensor. */
static inline size_t rp_interval_cell(const struct rp_instance *p,
                                      enum rp_interval_kind kind, uint32_t t, uint32_t id) {
    uint32_t ids = kind == RP_INTERVAL_R   ? p->n_ops
                   : kind == RP_INTERVAL_D ? 1
                                           : p->n_tensors;
    return (size_t)t * ids + id;
}
/* How many cells a table has. */
static inline size_t rp_interval_cells(const struct rp_instance *p,
                                       enum rp_interval_kind kind) {
    return rp_interval_cell(p, kind, p->n_ops + 2, 0);
}
/* Column or constant of any kind, for t from 0 to n_ops + 1. */
static inline uint32_t rp_interval_at(const struct rp_interval_model *m,
                                      enum rp_interval_kind kind, uint32_t t, uint32_t id) {
    return m->at[kind][rp_interval_cell(m->instance, kind, t, id)];
}
static inline double rp_interval_value(const struct rp_interval_model *m,
                                       enum rp_interval_kind kind, uint32_t t, uint32_t id,
                                       const double *v) {
    uint32_t col = rp_interval_at(m, kind, t, id);
    return col == RP_COL_ZERO ? 0 : col == RP_COL_ONE ? 1 : v[col];
}
/* H[t][x] */
static inline double rp_interval_value_h(const struct rp_interval_model *m, uint32_t t,
                                         uint32_t x, const double *v) {
    return rp_interval_value(m, RP_INTERVAL_S, t, x, v) -
           rp_interval_value(m, RP_INTERVAL_F, t, x, v);
}
/* The first op that is certain to end in the model's time: op `first` - 1, which ends as it
 * begins, or op 0. */
static inline uint32_t rp_interval_first_op(const struct rp_interval_model *m) {
    return m->first > 0 ? m->first - 1 : 0;
}
/* Scaled time of the ops u with a < u < b, where a may be -1. */
static inline double rp_interval_ops_between(const struct rp_interval_model *m, int64_t a,
                                             uint32_t b) {
    return (int64_t)b <= a + 1 ? 0 : m->since_start[b] - m->since_start[a + 1];
}
/* Is the first run of op t certain to read x, or the end of the step, t = n_ops? */
static inline bool rp_interval_must_read(const struct rp_instance *p, uint32_t t,
                                         uint32_t x) {
    return t == p->n_ops ? p->kept[x] : rp_op_reads(p, t, x);
}

/* ---- rows ---- */

/* A row in the making, whose columns may come in any order and more than once. */
struct rp_interval_row {
    const struct rp_interval_model *model; /* borrowed */
    double *sum;                           /* per column */
    bool *is_used;
    uint32_t *used, n_used;
    double constant;
};
void rp_interval_row_init(struct rp_interval_row *r, const struct rp_interval_model *m);
void rp_interval_row_fini(struct rp_interval_row *r);
void rp_interval_row_add(struct rp_interval_row *r, double coef, enum rp_interval_kind kind,
                         uint32_t t, uint32_t id);
/* Adds coef times H[t][x]. */
void rp_interval_row_add_h(struct rp_interval_row *r, double coef, uint32_t t, uint32_t x);
/* Adds coef times the sum of d[u] for first <= u <= last. */
void rp_interval_row_add_d(struct rp_interval_row *r, double coef, uint32_t first,
                           uint32_t last);
/* Appends the row  sum <= rhs  to `rows`, unless all points within the columns' bounds meet
 * it, and starts a new one. Returns 1 if it was appended, -1 if no point meets it, else 0.
 */
int rp_interval_row_end(struct rp_interval_row *r, double rhs, struct rp_row_set *rows);

#endif
