/* The rows (M13e), with all paths, intervals and lambda. */
#include <math.h>

#include "row_check.h"

enum { MAX_CHAIN = 12 };
#define SAME 1e-9

/* A path of tensors that a run of op r of stage t reads. r = t: the first run, or at the
 * end what is kept. */
struct chain {
    uint32_t t, r, n, x[MAX_CHAIN + 1];
    double after[MAX_CHAIN + 1], had; /* T[i], and T[n]; the sum of H */
};

static void add_least(const struct rp_row_check *c, struct rp_dense_row *row, double coef,
                      const struct chain *h, uint32_t x, bool with_run) {
    uint32_t q = c->p->producer[x];
    double u = rp_check_at(c, U, h->t, x), o = rp_check_at(c, O, h->t - 1, x),
           r = rp_check_at(c, R, h->t, q);
    if (with_run && r < fmin(u, o))
        rp_dense_row_add(row, -coef, R, h->t, q);
    else if (o < u)
        rp_dense_row_add(row, -coef, O, h->t - 1, x);
    else
        rp_dense_row_add(row, -coef, U, h->t, x);
}

static double over(double a, double b) {
    return fmax(a - b, 0);
}

/* The time of the run that reads the i-th tensor, if that is not the first run of op t. */
static double next_time(const struct rp_row_check *c, const struct chain *h, uint32_t i) {
    uint32_t op = i > 0 ? c->p->producer[h->x[i - 1]] : h->r;
    return op < h->t ? rp_check_ops_time(c, op, op + 1) : 0;
}

static struct rp_dense_row chain_row(const struct rp_row_check *c, const struct chain *h,
                                     uint32_t s, double lambda, bool copies) {
    bool again = h->r < h->t;
    struct rp_dense_row row = rp_dense_row_new(c->m, again ? 0 : -lambda);
    double beside = copies ? 0 : rp_check_ops_time(c, s, h->t);
    if (again)
        rp_dense_row_add(&row, lambda, R, h->t, h->r);
    for (uint32_t i = 0; i < h->n; i++) {
        uint32_t x = h->x[i], q = c->p->producer[x];
        double run = rp_check_ops_time(c, q, q + 1), in = rp_check_copy_time(c, U, x),
               after = h->after[i];
        double twice = fmin(in, fmax(run, in + run - over(after, next_time(c, h, i))));
        double all = over(lambda, after), copied = over(all, over(in, beside));
        double with_run = over(all, over(twice, beside));
        double fresh = fmin(copied, over(lambda, run + rp_check_copy_time(c, O, x) + in));
        rp_dense_row_add(&row, -all, S, h->t, x);
        rp_dense_row_add(&row, all, F, h->t, x);
        rp_dense_row_add(&row, -fresh, U, h->t, x);
        add_least(c, &row, copied - fresh, h, x, false);
        add_least(c, &row, with_run - copied, h, x, true);
        if (rp_check_at(c, F, s, x) < rp_check_at(c, U, h->t, x))
            rp_dense_row_add(&row, -(all - copied), F, s, x);
        else
            rp_dense_row_add(&row, -(all - copied), U, h->t, x);
    }
    for (uint32_t x = 0; x < c->p->n_tensors && copies; x++) {
        if (rp_check_sum(c, U, x, s, h->t - 1) <= rp_check_at(c, F, s, x))
            continue;
        for (uint32_t u = s; u < h->t; u++)
            rp_dense_row_add(&row, rp_check_copy_time(c, U, x), U, u, x);
        rp_dense_row_add(&row, -rp_check_copy_time(c, U, x), F, s, x);
    }
    row.right += copies ? rp_check_ops_time(c, s, h->t) : 0;
    rp_dense_row_wait(&row, s, h->t);
    return row;
}

/* All lambda of a path, in one interval. */
static void weigh_chain_from(const struct rp_row_check *c, const struct chain *h,
                             uint32_t s, bool copies, struct rp_check_best *best) {
    double beside = copies ? 0 : rp_check_ops_time(c, s, h->t), all = h->after[h->n];
    for (uint32_t i = 0; i < h->n; i++) {
        double lambda = h->after[i] + over(rp_check_copy_time(c, U, h->x[i]), beside);
        rp_check_weigh(c, best, chain_row(c, h, s, fmin(lambda, all), copies), false);
    }
    rp_check_weigh(c, best, chain_row(c, h, s, all, copies), false);
}

/* Alone: from where the longest copy could last into the stage. */
static void weigh_chain(const struct rp_row_check *c, const struct chain *h, bool copies,
                        struct rp_check_best *best) {
    double longest = 0;
    for (uint32_t x = 0; x < c->p->n_tensors; x++)
        longest = fmax(longest, rp_check_copy_time(c, U, x));
    for (uint32_t s = 0; s <= h->t; s++)
        if (copies ? s < h->t : s == h->t || rp_check_ops_time(c, s, h->t) < longest)
            weigh_chain_from(c, h, s, copies, best);
}

static void weigh_chains(const struct rp_row_check *c, const struct chain *h, double w,
                         bool copies, struct rp_check_best *best);

static void weigh_longer(const struct rp_row_check *c, struct chain h, uint32_t x, double w,
                         bool copies, struct rp_check_best *best) {
    uint32_t q = c->p->producer[x];
    h.had += rp_check_at(c, S, h.t, x) - rp_check_at(c, F, h.t, x);
    if (q >= h.t || h.n == MAX_CHAIN || w - h.had < 0.05)
        return;
    h.x[h.n++] = x;
    h.after[h.n] = h.after[h.n - 1] + rp_check_ops_time(c, q, q + 1);
    weigh_chain(c, &h, copies, best);
    weigh_chains(c, &h, w, copies, best);
}

/* Weighs what goes on from this path. */
static void weigh_chains(const struct rp_row_check *c, const struct chain *h, double w,
                         bool copies, struct rp_check_best *best) {
    uint32_t op = h->n > 0 ? c->p->producer[h->x[h->n - 1]] : h->r;
    for (uint32_t x = 0; x < c->p->n_tensors; x++)
        if (op == c->p->n_ops ? c->p->kept[x] : rp_op_reads(c->p, op, x))
            weigh_longer(c, *h, x, w, copies, best);
}

/* The best row of a run. */
static struct rp_check_best best_chain(const struct rp_row_check *c, uint32_t t, uint32_t r,
                                       bool copies) {
    double w = r == t ? 1 : rp_check_at(c, R, t, r);
    bool again = r < t;
    struct chain h = {
        .t = t, .r = r, .after = {again ? rp_check_ops_time(c, r, r + 1) : 0}};
    struct rp_check_best best = {0};
    if (w >= 0.05)
        weigh_chains(c, &h, w, copies, &best);
    return best;
}

/* What the row that was found next is violated by; 0: there is none. */
static double found_over(const struct rp_row_check *c) {
    return c->n == c->found.n ? 0
                              : rp_row_set_left(&c->found, c->n, c->v) - c->found.rhs[c->n];
}

/* Does the row that was found next have d[t]? */
static bool waits(const struct rp_row_check *c, uint32_t t) {
    uint32_t d = rp_interval_at(c->m, RP_INTERVAL_D, t, 0);
    if (c->n == c->found.n)
        return false;
    for (uint32_t k = c->found.start[c->n]; k < c->found.start[c->n + 1]; k++)
        if (c->found.col[k] == d)
            return true;
    return false;
}

/* For each run the best row without other copies. Rows that are violated as much are as
 * good. Returns how many there are. */
static uint32_t expect_alone(struct rp_row_check *c, uint32_t t) {
    uint32_t before = c->n;
    for (uint32_t r = 0; r <= t; r++) {
        struct rp_check_best b = best_chain(c, t, r, false);
        if (b.row.coef != NULL && b.over > c->least + SAME) {
            c->good = c->good && fabs(found_over(c) - b.over) < SAME;
            c->n += c->good;
        }
        rp_dense_row_free(&b.row);
    }
    return c->n - before;
}

/* The path is chosen as if there were no copies, so a row need not be the best. */
static void expect_with_copies(struct rp_row_check *c, uint32_t t) {
    for (uint32_t r = 0; r <= t && waits(c, t) && !waits(c, t + 1); r++) {
        struct rp_check_best b = best_chain(c, t, r, true);
        double is = found_over(c);
        if (b.row.coef != NULL && is <= b.over + SAME && is > c->least - SAME)
            c->n++;
        rp_dense_row_free(&b.row);
    }
}

void rp_check_expect_chains(struct rp_row_check *c) {
    for (uint32_t t = 1; t <= c->p->n_ops; t++)
        if (expect_alone(c, t) == 0)
            expect_with_copies(c, t);
}
