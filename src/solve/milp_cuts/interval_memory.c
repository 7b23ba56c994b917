#include "solve/milp_cuts/interval_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"

#define POSITIVE 1e-7 /* values above are not zero */
#define HALF 0.5      /* what is there by as much is a path of its own */

void rp_interval_memory_init(struct rp_interval_memory *c,
                             const struct rp_interval_model *m) {
    *c = (struct rp_interval_memory){.model = m};
    c->is_taken = rp_calloc(m->instance->n_tensors, sizeof *c->is_taken);
}

void rp_interval_memory_fini(struct rp_interval_memory *c) {
    free(c->wanted.at);
    free(c->is_taken);
    free(c->path.at);
    free(c->path_of_most.at);
    *c = (struct rp_interval_memory){0};
}

/* ---- the point ---- */

/* In stage t. */
static double value(const struct rp_interval_memory *c, enum rp_interval_kind kind,
                    uint32_t id) {
    return rp_interval_value(c->model, kind, c->t, id, c->v);
}

static double run_of_maker(const struct rp_interval_memory *c, uint32_t x) {
    return value(c, RP_INTERVAL_R, c->model->instance->producer[x]);
}

static bool must_read(const struct rp_interval_memory *c, uint32_t x) {
    return rp_interval_must_read(c->model->instance, c->t, x);
}

/* W */
static double want(const struct rp_interval_memory *c, uint32_t x) {
    return must_read(c, x) ? 1 : rp_interval_value_h(c->model, c->t + 1, x, c->v);
}

static void add_want(const struct rp_interval_memory *c, double coef, uint32_t x,
                     struct rp_interval_row *row) {
    if (must_read(c, x))
        row->constant += coef;
    else
        rp_interval_row_add_h(row, coef, c->t + 1, x);
}

/* W is H, and H[t+1] has a column or is 1. */
static bool may_be_held(const struct rp_interval_memory *c, uint32_t x) {
    return !must_read(c, x) &&
           rp_interval_at(c->model, RP_INTERVAL_S, c->t + 1, x) != RP_COL_ZERO;
}

static void list_wanted(struct rp_interval_memory *c) {
    const struct rp_instance *p = c->model->instance;
    c->wanted.n = 0;
    for (uint32_t x = 0; x < p->output_start[rp_min_u32(c->t, p->n_ops)]; x++)
        if (c->model->held_bytes[x] > 0 && (must_read(c, x) || may_be_held(c, x)))
            rp_push(&c->wanted, x);
}

static bool anything_runs(const struct rp_interval_memory *c) {
    for (uint32_t k = 0; k < c->t && k < c->model->instance->n_ops; k++)
        if (value(c, RP_INTERVAL_R, k) > POSITIVE)
            return true;
    return false;
}

/* ---- paths ---- */

static double held(const struct rp_memory_path *q) {
    return q->bytes * q->value;
}

/* x alone, with what a copy in flight adds. */
static struct rp_memory_path alone(const struct rp_interval_memory *c, uint32_t x) {
    double u = value(c, RP_INTERVAL_U, x);
    double flight = may_be_held(c, x) ? value(c, RP_INTERVAL_F, x) - u : 0;
    return (struct rp_memory_path){
        1, {x}, c->model->held_bytes[x], want(c, x) - u - run_of_maker(c, x) + flight};
}

/* Tries all paths that begin with q, whose value is without the run at the end of it. */
static void extend(struct rp_interval_memory *c, const struct rp_memory_path *q,
                   struct rp_memory_path *best) {
    const struct rp_instance *p = c->model->instance;
    uint32_t maker = p->producer[q->y[q->n - 1]];
    double run = value(c, RP_INTERVAL_R, maker);
    struct rp_memory_path ended = *q;
    ended.value -= run;
    c->steps++;
    if (held(&ended) > held(best))
        *best = ended;
    if (run <= POSITIVE || q->n == RP_MAX_MEMORY_PATH)
        return;
    for (uint32_t i = p->input_start[maker]; i < p->input_start[maker + 1]; i++) {
        uint32_t y = p->inputs[i];
        struct rp_memory_path longer = *q;
        if (c->is_taken[y])
            continue;
        longer.y[longer.n++] = y;
        longer.bytes = rp_min_double(longer.bytes, c->model->held_bytes[y]);
        longer.value -= value(c, RP_INTERVAL_U, y);
        if (held(&longer) > held(best))
            extend(c, &longer, best);
    }
}

static struct rp_memory_path best_path(struct rp_interval_memory *c, uint32_t x) {
    struct rp_memory_path best = alone(c, x), first = best;
    first.value = want(c, x) - value(c, RP_INTERVAL_U, x);
    extend(c, &first, &best);
    return best;
}

static void take(struct rp_interval_memory *c, const struct rp_memory_path *q) {
    for (uint32_t i = 0; i < q->n; i++)
        c->is_taken[q->y[i]] = true;
    rp_push(&c->path, *q);
}

static void take_touched(struct rp_interval_memory *c, uint32_t k) {
    const struct rp_instance *p = c->model->instance;
    for (uint32_t i = p->input_start[k]; i < p->input_start[k + 1]; i++)
        c->is_taken[p->inputs[i]] = true;
    for (uint32_t x = p->output_start[k]; x < p->output_start[k + 1]; x++)
        c->is_taken[x] = true;
}

/* Fills c->path. Returns the sum of what they hold at the point. */
static double find_paths(struct rp_interval_memory *c, const struct rp_memory_runs *r) {
    double sum = 0;
    c->path.n = 0;
    memset(c->is_taken, 0, c->model->instance->n_tensors * sizeof *c->is_taken);
    for (uint32_t i = 0; i < r->n; i++)
        take_touched(c, r->op[i]);
    for (size_t i = 0; i < c->wanted.n; i++) {
        struct rp_memory_path q = alone(c, c->wanted.at[i]);
        if (!c->is_taken[q.y[0]] && q.value >= HALF)
            take(c, &q);
    }
    for (size_t i = c->wanted.n; i-- > 0;) {
        if (c->is_taken[c->wanted.at[i]])
            continue;
        struct rp_memory_path q = best_path(c, c->wanted.at[i]);
        if (q.value > POSITIVE)
            take(c, &q);
    }
    c->steps += 2 * c->wanted.n;
    for (size_t i = 0; i < c->path.n; i++)
        sum += held(&c->path.at[i]);
    return sum;
}

static void add_path(const struct rp_interval_memory *c, const struct rp_memory_path *q,
                     struct rp_interval_row *row) {
    uint32_t x = q->y[0], maker = c->model->instance->producer[q->y[q->n - 1]];
    add_want(c, q->bytes, x, row);
    for (uint32_t i = 0; i < q->n; i++)
        rp_interval_row_add(row, -q->bytes, RP_INTERVAL_U, c->t, q->y[i]);
    rp_interval_row_add(row, -q->bytes, RP_INTERVAL_R, c->t, maker);
    if (q->n > 1 || !may_be_held(c, x))
        return;
    rp_interval_row_add(row, q->bytes, RP_INTERVAL_F, c->t, x);
    rp_interval_row_add(row, -q->bytes, RP_INTERVAL_U, c->t, x);
}

/* ---- runs ---- */

static void weigh(struct rp_interval_memory *c, const struct rp_memory_runs *r) {
    if (r->value <= POSITIVE)
        return;
    double sum = find_paths(c, r) + r->bytes * r->value;
    if (sum <= c->most)
        return;
    c->most = sum;
    c->runs = *r;
    c->path_of_most.n = 0;
    for (size_t i = 0; i < c->path.n; i++)
        rp_push(&c->path_of_most, c->path.at[i]);
}

/* 1 if x is there from its maker's last run on. */
static double made_again(const struct rp_interval_memory *c, uint32_t x) {
    return want(c, x) - value(c, RP_INTERVAL_U, x) + run_of_maker(c, x);
}

static void weigh_two(struct rp_interval_memory *c, uint32_t x, uint32_t z) {
    const struct rp_instance *p = c->model->instance;
    const double *bytes = c->model->held_bytes, *set = c->model->working_set;
    uint32_t k = p->producer[x], l = p->producer[z];
    if (k == l || rp_interval_touches(p, k, z) || rp_interval_touches(p, l, x))
        return;
    struct rp_memory_runs r = {.n = 2, .op = {k, l}, .x = {x, z}};
    r.bytes = rp_min_double(set[k] + bytes[z], set[l] + bytes[x]);
    r.value = made_again(c, x) + made_again(c, z) - 3;
    weigh(c, &r);
}

static void add_runs(const struct rp_interval_memory *c, struct rp_interval_row *row) {
    const struct rp_memory_runs *r = &c->runs;
    for (uint32_t i = 0; i < r->n; i++)
        rp_interval_row_add(row, r->bytes, RP_INTERVAL_R, c->t, r->op[i]);
    for (uint32_t i = 0; i < r->n && r->n == 2; i++) {
        add_want(c, r->bytes, r->x[i], row);
        rp_interval_row_add(row, -r->bytes, RP_INTERVAL_U, c->t, r->x[i]);
    }
    row->constant -= r->n == 2 ? 3 * r->bytes : 0;
}

/* ---- rows ---- */

static bool begin(struct rp_interval_memory *c, const double *v, uint32_t t) {
    c->v = v;
    c->t = t;
    c->most = 0;
    c->steps = 0;
    if (!anything_runs(c))
        return false;
    list_wanted(c);
    return true;
}

static uint32_t end(struct rp_interval_memory *c, double least, struct rp_interval_row *row,
                    struct rp_row_set *rows, uint64_t *steps) {
    double limit = (double)c->model->instance->limit_bytes * c->model->byte_scale;
    *steps += c->steps;
    if (c->most < limit + least)
        return 0;
    for (size_t i = 0; i < c->path_of_most.n; i++)
        add_path(c, &c->path_of_most.at[i], row);
    add_runs(c, row);
    return rp_interval_row_end(row, limit, rows) != 0;
}

uint32_t rp_interval_memory_find(struct rp_interval_memory *c, const double *v,
                                 double least, uint32_t t, struct rp_interval_row *row,
                                 struct rp_row_set *rows, uint64_t *steps) {
    if (!begin(c, v, t))
        return 0;
    for (uint32_t k = 0; k < t && k < c->model->instance->n_ops; k++)
        weigh(c, &(struct rp_memory_runs){.n = 1,
                                          .op = {k},
                                          .bytes = c->model->working_set[k],
                                          .value = value(c, RP_INTERVAL_R, k)});
    return end(c, least, row, rows, steps);
}

uint32_t rp_interval_memory_find_two(struct rp_interval_memory *c, const double *v,
                                     double least, uint32_t t, struct rp_interval_row *row,
                                     struct rp_row_set *rows, uint64_t *steps) {
    if (!begin(c, v, t))
        return 0;
    for (size_t i = 0; i < c->wanted.n; i++)
        for (size_t j = 0; j < i && run_of_maker(c, c->wanted.at[i]) > POSITIVE; j++)
            if (run_of_maker(c, c->wanted.at[j]) > POSITIVE)
                weigh_two(c, c->wanted.at[i], c->wanted.at[j]);
    return end(c, least, row, rows, steps);
}
