#include "solve/milp_cuts/interval_chains.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

#define POSITIVE 1e-7 /* values above are not zero */
#define MIN_WANT 0.05 /* least W, and what is left of it where a path goes on */
#define NO_STAGE UINT32_MAX
enum { MAX_PATH = 40, MAX_LOOKS = 400 }; /* tensors of a path; looked at for a run */

/* A tensor of a path. Scaled times. */
struct step {
    uint32_t x;
    double after;     /* T[i] */
    double in, again; /* what its copy takes, as in (M13e), less D(s-1, t) */
    double fresh;     /* if it is made, copied out and copied in in stage t */
    /* At the point: H[t][x], U[t][x], O[t-1][x], R[t][q] and F[s][x]. */
    double h, u, o, r, f;
};

struct rp_interval_chain {
    uint32_t t, r;   /* r = t: the first run, or at the end what is kept */
    uint32_t s;      /* NO_STAGE: as if nothing were in flight */
    bool has_copies; /* those of stages s .. t-1 */
    double want;     /* W */
    double ops;      /* D(s-1, t); 0 with copies */
    uint32_t n, n_looks;
    struct step step[MAX_PATH];
    double lambda, right; /* the best, and the right side at the point */
};

void rp_interval_chains_init(struct rp_interval_chains *c,
                             const struct rp_interval_model *m) {
    const struct rp_instance *p = m->instance;
    *c = (struct rp_interval_chains){.model = m};
    c->copied = rp_calloc(((size_t)p->n_ops + 2) * p->n_tensors, sizeof *c->copied);
    c->now = rp_calloc(1, sizeof *c->now);
    c->best = rp_calloc(1, sizeof *c->best);
    for (uint32_t x = 0; x < p->n_tensors && p->in_ns != NULL; x++)
        c->longest_in = fmax(c->longest_in, (double)p->in_ns[x] * m->time_scale);
}

void rp_interval_chains_fini(struct rp_interval_chains *c) {
    free(c->copied);
    free(c->now);
    free(c->best);
    *c = (struct rp_interval_chains){0};
}

static double value(const struct rp_interval_chains *c, enum rp_interval_kind kind,
                    uint32_t t, uint32_t id) {
    return rp_interval_value(c->model, kind, t, id, c->v);
}

static double run_time(const struct rp_interval_chains *c, uint32_t op) {
    return (double)c->model->instance->time_ns[op] * c->model->time_scale;
}

static double copy_time(const struct rp_interval_chains *c, const uint64_t *ns,
                        uint32_t x) {
    return ns == NULL ? 0 : (double)ns[x] * c->model->time_scale;
}

/* The sum of d[u], s <= u <= t, at the point. */
static double waited(const struct rp_interval_chains *c, uint32_t s, uint32_t t) {
    return c->d_before[t + 1] - c->d_before[s];
}

static double ops_in(const struct rp_interval_chains *c, uint32_t s, uint32_t t) {
    return rp_interval_ops_between(c->model, (int64_t)s - 1, t);
}

/* ---- the right side ---- */

/* Coefficients of what one tensor takes off. */
struct weights {
    double h, u, o, r, f;
};

static inline struct weights weights_of(const struct step *k, double lambda) {
    double all = rp_max_double(lambda - k->after, 0);
    double copied = rp_max_double(all - k->in, 0);
    double again = rp_max_double(all - k->again, 0);
    double fresh = rp_min_double(copied, rp_max_double(lambda - k->fresh, 0));
    struct weights w = {.h = all, .u = fresh};
    *(k->f < k->u ? &w.f : &w.u) += all - copied;
    *(k->o < k->u ? &w.o : &w.u) += copied - fresh;
    *(k->r < rp_min_double(k->u, k->o) ? &w.r
      : k->o < k->u                    ? &w.o
                                       : &w.u) += again - copied;
    return w;
}

static double right_side(const struct rp_interval_chain *q, double lambda) {
    double right = lambda * q->want;
    for (uint32_t i = 0; i < q->n && q->step[i].after < lambda; i++) {
        const struct step *k = &q->step[i];
        struct weights w = weights_of(k, lambda);
        right -= w.h * k->h;
        right -= w.u * k->u;
        right -= w.o * k->o;
        right -= w.r * k->r;
        right -= w.f * k->f;
    }
    return right;
}

/* ---- paths ---- */

/* Keeps the path in `best` if it gives a larger right side than any before. */
static void try_lambda(struct rp_interval_chains *c, double lambda) {
    double right = right_side(c->now, lambda);
    c->steps += c->now->n;
    if (right <= c->now->right)
        return;
    c->now->right = right;
    c->now->lambda = lambda;
    *c->best = *c->now;
}

/* The right side is concave and piecewise linear in lambda. */
static void weigh(struct rp_interval_chains *c, double all) {
    const struct rp_interval_chain *q = c->now;
    for (uint32_t i = 0; i < q->n; i++) {
        if (i > 0)
            try_lambda(c, q->step[i].after);
        try_lambda(c, rp_min_double(q->step[i].after + q->step[i].in, all));
    }
    try_lambda(c, all);
}

static double in_flight(const struct rp_interval_chains *c, uint32_t s, uint32_t x) {
    return s == NO_STAGE ? 0 : value(c, RP_INTERVAL_F, s, x);
}

static bool extend(struct rp_interval_chains *c, uint32_t op, double had, double after);

/* Goes on with tensor x, which a run of `next_ns` reads. `had`: H of the path so far. */
static bool extend_with(struct rp_interval_chains *c, uint32_t x, double next_ns,
                        double had, double after) {
    struct rp_interval_chain *q = c->now;
    const struct rp_instance *p = c->model->instance;
    uint32_t maker = p->producer[x];
    double h = rp_interval_value_h(c->model, q->t, x, c->v);
    had += h;
    if (q->n_looks >= MAX_LOOKS || q->n == MAX_PATH || maker >= q->t ||
        q->want - had < MIN_WANT)
        return false;
    double run = run_time(c, maker), in = copy_time(c, p->in_ns, x);
    double again = fmin(in, fmax(run, in + run - fmax(after - next_ns, 0)));
    q->n_looks++;
    q->step[q->n++] = (struct step){.x = x,
                                    .after = after,
                                    .in = fmax(in - q->ops, 0),
                                    .again = fmax(again - q->ops, 0),
                                    .fresh = run + copy_time(c, p->out_ns, x) + in,
                                    .h = h,
                                    .u = value(c, RP_INTERVAL_U, q->t, x),
                                    .o = value(c, RP_INTERVAL_O, q->t - 1, x),
                                    .r = value(c, RP_INTERVAL_R, q->t, maker),
                                    .f = in_flight(c, q->s, x)};
    if (!extend(c, maker, had, after + run))
        weigh(c, after + run);
    q->n--;
    return true;
}

/* Goes on with each input of an op. False: with none. */
static bool extend(struct rp_interval_chains *c, uint32_t op, double had, double after) {
    const struct rp_instance *p = c->model->instance;
    double next_ns = op < c->now->t ? run_time(c, op) : 0;
    bool any = false;
    for (uint32_t k = p->input_start[op]; k < p->input_start[op + 1]; k++)
        any |= extend_with(c, p->inputs[k], next_ns, had, after);
    return any;
}

/* Finds the best path for the run, or the kept tensors, of `now`. False: there is none. */
static bool find_path(struct rp_interval_chains *c) {
    struct rp_interval_chain *q = c->now;
    const struct rp_instance *p = c->model->instance;
    q->n = q->n_looks = c->best->n = 0;
    q->right = 0;
    if (q->r < p->n_ops)
        extend(c, q->r, 0, q->r < q->t ? run_time(c, q->r) : 0);
    for (uint32_t x = 0; x < p->n_tensors && q->r == p->n_ops; x++)
        if (p->kept[x])
            extend_with(c, x, 0, 0, 0);
    c->steps += 5 * q->n_looks;
    return c->best->n > 0;
}

/* ---- copies of earlier stages ---- */

static void add_up_copies(struct rp_interval_chains *c) {
    const struct rp_instance *p = c->model->instance;
    size_t n = p->n_tensors;
    for (uint32_t t = c->model->first; t <= c->model->last; t++)
        for (uint32_t x = 0; x < n; x++)
            c->copied[(t + 1) * n + x] =
                c->copied[t * n + x] + value(c, RP_INTERVAL_U, t, x);
    c->steps += n * (c->model->last - c->model->first);
}

/* How much of x is copied for stages s .. t-1, from moment s on. */
static double copied_in(const struct rp_interval_chains *c, uint32_t s, uint32_t t,
                        uint32_t x) {
    size_t n = c->model->instance->n_tensors;
    double sum = c->copied[t * n + x] - c->copied[s * n + x];
    return sum > POSITIVE ? fmax(sum - value(c, RP_INTERVAL_F, s, x), 0) : 0;
}

static double time_of_copies(struct rp_interval_chains *c, uint32_t s, uint32_t t) {
    const struct rp_instance *p = c->model->instance;
    double sum = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        sum += copy_time(c, p->in_ns, x) * copied_in(c, s, t, x);
    c->steps += p->n_tensors;
    return sum;
}

/* ---- rows ---- */

static void append_row(const struct rp_interval_chains *c,
                       const struct rp_interval_chain *q, struct rp_interval_row *row,
                       struct rp_row_set *rows) {
    const struct rp_instance *p = c->model->instance;
    for (uint32_t i = 0; i < q->n && q->step[i].after < q->lambda; i++) {
        uint32_t x = q->step[i].x;
        struct weights w = weights_of(&q->step[i], q->lambda);
        rp_interval_row_add_h(row, -w.h, q->t, x);
        rp_interval_row_add(row, -w.u, RP_INTERVAL_U, q->t, x);
        rp_interval_row_add(row, -w.o, RP_INTERVAL_O, q->t - 1, x);
        rp_interval_row_add(row, -w.r, RP_INTERVAL_R, q->t, p->producer[x]);
        rp_interval_row_add(row, -w.f, RP_INTERVAL_F, q->s, x);
    }
    for (uint32_t x = 0; x < p->n_tensors && q->has_copies; x++) {
        double in = copied_in(c, q->s, q->t, x) > 0 ? copy_time(c, p->in_ns, x) : 0;
        for (uint32_t u = q->s; u < q->t && in > 0; u++)
            rp_interval_row_add(row, in, RP_INTERVAL_U, u, x);
        rp_interval_row_add(row, -in, RP_INTERVAL_F, q->s, x);
    }
    double rhs = q->has_copies ? ops_in(c, q->s, q->t) : 0;
    if (q->r < q->t)
        rp_interval_row_add(row, q->lambda, RP_INTERVAL_R, q->t, q->r);
    else
        rhs -= q->lambda;
    rp_interval_row_add_d(row, -1, q->s, q->t);
    rp_interval_row_end(row, rhs, rows);
}

/* Keeps `q` in `found` if its row is violated by more than `over`. */
static void keep_if_better(const struct rp_interval_chains *c,
                           const struct rp_interval_chain *q, double right, double *over,
                           struct rp_interval_chain *found) {
    double violated = right - waited(c, q->s, q->t);
    if (violated <= *over)
        return;
    *over = violated;
    *found = *q;
}

/* Without other copies: from moment t, or from earlier ones on while a copy from there may
 * last into stage t. */
static void find_alone(struct rp_interval_chains *c, double *over,
                       struct rp_interval_chain *found) {
    struct rp_interval_chain *q = c->now;
    for (uint32_t s = q->t + 1; s-- > c->model->first;) {
        q->s = s;
        q->ops = ops_in(c, s, q->t);
        if (s < q->t && q->ops >= c->longest_in)
            break;
        if (find_path(c))
            keep_if_better(c, c->best, c->best->right, over, found);
    }
}

/* With the copies since any earlier moment, which share the path found without them. */
static void find_with_copies(struct rp_interval_chains *c, double *over,
                             struct rp_interval_chain *found) {
    struct rp_interval_chain *q = c->now;
    q->s = NO_STAGE;
    q->ops = 0;
    if (!find_path(c))
        return;
    *q = *c->best;
    q->has_copies = true;
    for (q->s = q->t; q->s-- > c->model->first;) {
        for (uint32_t i = 0; i < q->n; i++)
            q->step[i].f = in_flight(c, q->s, q->step[i].x);
        double right = right_side(q, q->lambda) + time_of_copies(c, q->s, q->t) -
                       ops_in(c, q->s, q->t);
        keep_if_better(c, q, right, over, found);
    }
}

/* The best row of each op that runs in stage t. Returns how many. */
static uint32_t find_stage(struct rp_interval_chains *c, uint32_t t, bool with_copies,
                           double least, struct rp_interval_row *row,
                           struct rp_row_set *rows) {
    uint32_t before = rows->n;
    for (uint32_t r = 0; r <= t; r++) {
        struct rp_interval_chain found = {.n = 0};
        double over = least, want = r == t ? 1 : value(c, RP_INTERVAL_R, t, r);
        if (want < MIN_WANT)
            continue;
        *c->now = (struct rp_interval_chain){.t = t, .r = r, .want = want};
        if (with_copies)
            find_with_copies(c, &over, &found);
        else
            find_alone(c, &over, &found);
        if (found.n > 0)
            append_row(c, &found, row, rows);
    }
    return rows->n - before;
}

uint32_t rp_interval_chains_find(struct rp_interval_chains *c, const double *v,
                                 const double *d_before, double least,
                                 struct rp_interval_row *row, struct rp_row_set *rows) {
    uint32_t before = rows->n;
    c->v = v;
    c->d_before = d_before;
    c->steps = 0;
    add_up_copies(c);
    for (uint32_t t = rp_max_u32(c->model->first, 1); t <= c->model->last; t++)
        if (find_stage(c, t, false, least, row, rows) == 0)
            find_stage(c, t, true, least, row, rows);
    return rows->n - before;
}
