/* whole_model: keep, recompute and swap as one mixed-integer program for other solvers. All
 * rows are written out, and its 0/1 points are schedules (core/schedule.h).
 *
 * It is the interval model, with (M1) to (M8), (M10) and (M12) as
 * milp/interval_model.h numbers them, and with these columns and rows beside:
 *
 *   w[t]        sum of d[u], u <= t
 *   L[t][x][k]  x is live in stage t from op k on: at least S[t+1][x], and R[t][j] of each
 *               reader j >= k. One column for all k between two readers
 *   L[t][x]     x, made by p, is live in stage t before p: at least S + B - Q, and
 *               R[t][j] - R[t][p] of each reader j, since Q only says that x is freed by
 *               the end of the stage. No column if no run of the stage can read x
 *   W[t][x]     a run in stage t finds its output x on the device and cannot rewrite it
 *   P[s][t][x]  a copy in of x begins in stage s and is first read in stage t
 *   Z[s][t]     time of the copies in that begin in stage s and are read by stage t
 *   Y[s][t]     the same, of those that begin in stage s or later
 *   V[t][j]     time of the runs again in stage t from op j on
 *
 *   (W1) memory, for each k < t that may run in stage t:
 *            sum of bytes[x] L + workspace[k] R[t][k] <= limit, where L is L[t][x] if x is
 *            made by an op after k
 *   (W2) copies in   U[t][x] = sum over s of P[s][t][x],
 *                    F[t+1][x] = F[t][x] + sum of P[t][u][x] - sum of P[s][t][x], s < t < u
 *   (W3) in          Y[s][t] <= sum of d[u], s <= u <= t, + D(s - 1, t)
 *   (W4) schedules   B[t][x] + S[t][x] <= 1,  B[t][x] <= O[t-1][x],
 *                    F[t+1][x] + U[t][x] + R[t][p] <= 1
 *   (W5) in time, for each reader j < t of x:
 *            in[x] (P[t][t][x] + R[t][j] - 1) + V[t][j] <= d[t]
 *   (W6) out     O[n][x] <= O[t][x] + S[t+1][x], since the first x made is copied
 *
 * Unlike the interval model it has no runs after the last first run (that of `end` if there
 * is one, order/step_end.h), and only kept tensors
 * are waited for there. Copies in begin where stages begin, and an op runs once in a stage
 * at most. So its optimum is one over schedules. Copies may still interrupt each other in
 * it, go on while what reads them runs in a later stage than they begin in, and begin
 * before a copy out has made room for them. So a plan can take longer than its point costs,
 * but a point of every schedule is in it (that takes at most twice keep-all's time: longer
 * ones are left out).
 *
 * Not thread-safe: one object, one thread. */
#ifndef RP_SOLVE_EXCHANGE_WHOLE_MODEL_H
#define RP_SOLVE_EXCHANGE_WHOLE_MODEL_H

#include "solve/exchange/named_milp.h"
#include "solve/milp/interval_model.h"

/* Larger models are refused. */
#define RP_MAX_WHOLE_TERMS 10000000

/* The column P[s][t][x]. */
struct rp_whole_copy {
    uint32_t s, t, x, col;
};

struct rp_whole_model {
    struct rp_interval_model interval; /* its columns come first, in its order */
    struct rp_named_milp named;
    uint32_t *waited; /* per stage: the column w[t] */
    RP_VEC(struct rp_whole_copy) copies;
};

/* `p` must outlive the model, which the caller owns on RP_OK. RP_LIMIT:
 * no plan takes at most twice keep-all's time, which says nothing of slower ones; or the
 * model is too large, and the message says its size. */
rp_rc rp_whole_model_init(struct rp_whole_model *m, const struct rp_instance *p,
                          struct rp_err *err);
void rp_whole_model_fini(struct rp_whole_model *m); /* safe on a zeroed one */

/* Completes a point: x[n_cols] holds the columns of the interval model, and zeros. All rows
 * hold afterwards if any completion meets them all. */
void rp_whole_complete(const struct rp_whole_model *m, double *x);

/* A column of the interval model, or a constant. */
static inline uint32_t rp_whole_at(const struct rp_whole_model *m,
                                   enum rp_interval_kind kind, uint32_t t, uint32_t id) {
    return rp_interval_at(&m->interval, kind, t, id);
}
/* Appends coef times such a column, or times B[t][x], to the row. */
static inline void rp_whole_term(struct rp_whole_model *m, double coef,
                                 enum rp_interval_kind kind, uint32_t t, uint32_t id) {
    rp_named_term(&m->named, coef, rp_whole_at(m, kind, t, id));
}
static inline void rp_whole_begun(struct rp_whole_model *m, double coef, uint32_t t,
                                  uint32_t x) {
    rp_whole_term(m, coef, RP_INTERVAL_F, t + 1, x);
    rp_whole_term(m, -coef, RP_INTERVAL_F, t, x);
    rp_whole_term(m, coef, RP_INTERVAL_U, t, x);
}
static inline bool rp_whole_is_too_large(const struct rp_whole_model *m) {
    return m->named.p.n_terms > RP_MAX_WHOLE_TERMS;
}

#endif
