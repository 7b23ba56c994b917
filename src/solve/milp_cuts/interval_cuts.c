#include "solve/milp_cuts/interval_cuts.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/lp/sep_cover.h"

#define POSITIVE 1e-7 /* values above are not zero */
#define MIN_COVER_EFFICACY 0.01

/* A copy that an interval may have to hold. */
struct rp_interval_copy {
    enum rp_interval_kind kind; /* O or U */
    uint32_t t, x;
    double ns, value; /* scaled time; y at the point */
};

static void list_reads(struct rp_interval_cuts *c) {
    const struct rp_instance *p = c->model->instance;
    c->read_start = rp_calloc((size_t)p->n_ops + 2, sizeof *c->read_start);
    for (uint32_t t = 0; t <= p->n_ops; t++) {
        for (uint32_t x = 0; x < p->n_tensors; x++) {
            if (rp_interval_at(c->model, RP_INTERVAL_U, t, x) != RP_COL_ZERO)
                rp_push(&c->read, x);
        }
        c->read_start[t + 1] = (uint32_t)c->read.n;
    }
}

void rp_interval_cuts_init(struct rp_interval_cuts *c, const struct rp_interval_model *m) {
    *c = (struct rp_interval_cuts){.model = m};
    rp_interval_row_init(&c->row, m);
    rp_interval_paths_init(&c->paths, m);
    rp_interval_chains_init(&c->chains, m);
    rp_interval_memory_init(&c->memory, m);
    list_reads(c);
    c->d_before = rp_calloc((size_t)m->instance->n_ops + 2, sizeof *c->d_before);
    c->need = rp_calloc(m->instance->n_tensors, sizeof *c->need);
    c->seen = rp_calloc(m->instance->n_tensors, sizeof *c->seen);
}

void rp_interval_cuts_fini(struct rp_interval_cuts *c) {
    rp_interval_row_fini(&c->row);
    rp_interval_paths_fini(&c->paths);
    rp_interval_chains_fini(&c->chains);
    rp_interval_memory_fini(&c->memory);
    rp_row_set_fini(&c->found);
    free(c->read_start);
    free(c->read.at);
    free(c->d_before);
    free(c->need);
    free(c->seen);
    free(c->copy);
    *c = (struct rp_interval_cuts){0};
}

/* What a call works with. */
struct call {
    struct rp_interval_cuts *c;
    const struct rp_interval_model *m;
    const struct rp_instance *p;
    const double *v;
    double least;
    struct rp_row_set *rows;
    enum rp_interval_family family;
    double over; /* what the best row of the stage, in c->found, is violated by */
};

static double value(const struct call *a, enum rp_interval_kind kind, uint32_t t,
                    uint32_t id) {
    return rp_interval_value(a->m, kind, t, id, a->v);
}

static void add(struct call *a, double coef, enum rp_interval_kind kind, uint32_t t,
                uint32_t id) {
    rp_interval_row_add(&a->c->row, coef, kind, t, id);
}

static double out_time(const struct call *a, uint32_t x) {
    return (double)a->p->out_ns[x] * a->m->time_scale;
}

static double in_time(const struct call *a, uint32_t x) {
    return (double)a->p->in_ns[x] * a->m->time_scale;
}

/* The sum of d[u], first <= u <= last, at the point. */
static double waited(const struct call *a, uint32_t first, uint32_t last) {
    return a->c->d_before[last + 1] - a->c->d_before[first];
}

static void end_row(struct call *a, double rhs) {
    a->c->n[a->family] += rp_interval_row_end(&a->c->row, rhs, a->rows) != 0;
}

/* ---- (M9) and (M13h) ---- */

static void find_memory_k(struct call *a, uint32_t t) {
    struct rp_interval_cuts *c = a->c;
    c->n[a->family] +=
        rp_interval_memory_find(&c->memory, a->v, a->least, t, &c->row, a->rows, &c->steps);
}

static void find_memory_two(struct call *a, uint32_t t) {
    struct rp_interval_cuts *c = a->c;
    c->n[a->family] += rp_interval_memory_find_two(&c->memory, a->v, a->least, t, &c->row,
                                                   a->rows, &c->steps);
}

/* ---- (M10) and (M13c) ---- */

/* What x adds to the left side of a row at the point; appends its terms if `put`. */
typedef double part_of(struct call *a, uint32_t x, uint32_t b, bool put);

/* The row over what is made from some op on, where it is violated most. `ops`: op time
 * counts with the waits. */
static void find_from_maker(struct call *a, uint32_t b, part_of *part, bool ops) {
    double sum = 0, worst = 0;
    uint32_t from = RP_NONE;
    for (uint32_t op = b; op-- > rp_interval_first_op(a->m);) {
        for (uint32_t x = a->p->output_start[op]; x < a->p->output_start[op + 1]; x++)
            sum += part(a, x, b, false);
        double over = sum - waited(a, op + 1, b);
        if (ops)
            over -= rp_interval_ops_between(a->m, op, b);
        if (over >= fmax(a->least, worst)) {
            worst = over;
            from = op;
        }
    }
    if (from == RP_NONE)
        return;
    for (uint32_t x = a->p->output_start[from]; x < a->p->output_start[b]; x++)
        part(a, x, b, true);
    rp_interval_row_add_d(&a->c->row, -1, from + 1, b);
    end_row(a, ops ? rp_interval_ops_between(a->m, from, b) : 0);
}

static double copy_out_of(struct call *a, uint32_t x, uint32_t b, bool put) {
    if (put)
        add(a, out_time(a, x), RP_INTERVAL_O, b, x);
    return out_time(a, x) * value(a, RP_INTERVAL_O, b, x);
}

static void find_out(struct call *a, uint32_t b) {
    find_from_maker(a, b, copy_out_of, true);
}

static double early_frees_of(struct call *a, uint32_t x, uint32_t b, bool put) {
    uint32_t maker = a->p->producer[x];
    double sum = 0;
    for (uint32_t t = maker + 1; t <= b; t++) {
        double lost = out_time(a, x) - rp_interval_ops_between(a->m, maker, t);
        if (lost <= 0)
            break;
        a->c->steps++;
        sum += lost * (value(a, RP_INTERVAL_O, t, x) - value(a, RP_INTERVAL_O, t - 1, x));
        if (put) {
            add(a, lost, RP_INTERVAL_O, t, x);
            add(a, -lost, RP_INTERVAL_O, t - 1, x);
        }
    }
    return sum;
}

static void find_early_frees(struct call *a, uint32_t b) {
    find_from_maker(a, b, early_frees_of, false);
}

/* ---- (M11) ---- */

/* Begins a sum of (M11), from moment s on. */
static void begin_sum(struct rp_interval_cuts *c) {
    if (++c->n_sums == 0) {
        for (uint32_t x = 0; x < c->model->instance->n_tensors; x++)
            c->seen[x] = 0;
        c->n_sums = 1;
    }
}

/* What x needs in the sum so far, over in[x]. Below 0: it was in flight at moment s. */
static double *need(struct call *a, uint32_t s, uint32_t x) {
    if (a->c->seen[x] != a->c->n_sums)
        a->c->need[x] = -value(a, RP_INTERVAL_F, s, x);
    a->c->seen[x] = a->c->n_sums;
    return &a->c->need[x];
}

static void add_in(struct call *a, uint32_t s, uint32_t t) {
    const struct rp_interval_cuts *c = a->c;
    begin_sum(a->c);
    for (uint32_t u = s; u <= t; u++)
        for (uint32_t k = c->read_start[u]; k < c->read_start[u + 1]; k++)
            *need(a, s, c->read.at[k]) += value(a, RP_INTERVAL_U, u, c->read.at[k]);
    for (uint32_t u = s; u <= t; u++)
        for (uint32_t k = c->read_start[u]; k < c->read_start[u + 1]; k++)
            if (c->need[c->read.at[k]] > POSITIVE)
                add(a, in_time(a, c->read.at[k]), RP_INTERVAL_U, u, c->read.at[k]);
    for (uint32_t k = c->read_start[s]; k < c->read_start[t + 1]; k++)
        if (c->need[c->read.at[k]] > POSITIVE) {
            add(a, -in_time(a, c->read.at[k]), RP_INTERVAL_F, s, c->read.at[k]);
            c->need[c->read.at[k]] = 0; /* once */
        }
    rp_interval_row_add_d(&a->c->row, -1, s, t);
    end_row(a, rp_interval_ops_between(a->m, (int64_t)s - 1, t));
}

/* The interval from s on that is violated most. */
static void find_in(struct call *a, uint32_t s) {
    const struct rp_interval_cuts *c = a->c;
    double sum = 0, worst = 0;
    uint32_t to = RP_NONE;
    begin_sum(a->c);
    for (uint32_t t = s; t <= a->m->last; t++) {
        for (uint32_t k = c->read_start[t]; k < c->read_start[t + 1]; k++) {
            uint32_t x = c->read.at[k];
            double u = value(a, RP_INTERVAL_U, t, x), *n = need(a, s, x);
            sum += in_time(a, x) * (fmax(*n + u, 0) - fmax(*n, 0));
            *n += u;
        }
        double over =
            sum - waited(a, s, t) - rp_interval_ops_between(a->m, (int64_t)s - 1, t);
        if (over >= fmax(a->least, worst)) {
            worst = over;
            to = t;
        }
    }
    if (to != RP_NONE)
        add_in(a, s, to);
}

/* ---- (M13a) ---- */

/* A cover of the memory row of op t over S or V, and its limit. */
static void add_cover(struct call *a, uint32_t t, enum rp_interval_kind kind,
                      uint64_t limit_bytes) {
    struct rp_row_set *memory = &a->c->found;
    for (uint32_t x = 0; x < a->p->output_start[t]; x++)
        if (!rp_interval_touches(a->p, t, x))
            add(a, a->m->held_bytes[x], kind, t + 1, x);
    rp_row_set_fini(memory);
    if (rp_interval_row_end(&a->c->row,
                            (double)limit_bytes * a->m->byte_scale - a->m->working_set[t],
                            memory) == 1)
        a->c->n[a->family] +=
            rp_sep_cover_find(memory, 0, a->v, MIN_COVER_EFFICACY, a->rows);
}

static void find_cover(struct call *a, uint32_t t) {
    add_cover(a, t, RP_INTERVAL_S, a->p->limit_bytes);
}

static void find_room(struct call *a, uint32_t t) {
    add_cover(a, t, RP_INTERVAL_V, a->m->room_bytes[t]);
}

/* ---- (M13b) ---- */

/* Is a the likelier of the two, or else the first of them in a fixed order? */
static bool comes_before(const struct rp_interval_copy *a,
                         const struct rp_interval_copy *b) {
    if (a->value != b->value)
        return a->value > b->value;
    if (a->x != b->x)
        return a->x < b->x;
    return a->t < b->t;
}

/* They stay sorted. */
static void push(struct rp_interval_cuts *c, struct rp_interval_copy copy) {
    if (c->n_copies == c->cap_copies) {
        c->cap_copies = 2 * c->cap_copies + 16;
        c->copy = rp_realloc(c->copy, c->cap_copies, sizeof *c->copy);
    }
    uint32_t k = c->n_copies++;
    for (; k > 0 && comes_before(&copy, &c->copy[k - 1]); k--)
        c->copy[k] = c->copy[k - 1];
    c->copy[k] = copy;
}

static void push_copy(struct call *a, enum rp_interval_kind kind, uint32_t t, uint32_t x) {
    double ns = kind == RP_INTERVAL_O ? out_time(a, x) : in_time(a, x);
    double y = value(a, kind, t, x);
    if (y > POSITIVE)
        push(a->c, (struct rp_interval_copy){kind, t, x, ns, y});
}

/* What is taken off for one copy of a set with this lambda. */
static double taken_off(const struct call *a, const struct rp_interval_copy *k, uint32_t s,
                        double lambda) {
    double flight = k->kind == RP_INTERVAL_U ? value(a, RP_INTERVAL_F, s, k->x) : 0;
    return fmin(k->ns, lambda) * (1 - k->value + flight);
}

/* How many of the copies, the likeliest first, make a row that is violated more than any so
 * far; 0: none. */
static uint32_t best_set(struct call *a, uint32_t s, double ops, double d) {
    struct rp_interval_cuts *c = a->c;
    double lambda = -ops;
    uint32_t best = 0;
    for (uint32_t n = 0; n < c->n_copies; n++) {
        double right = lambda += c->copy[n].ns;
        c->steps += n + 1;
        for (uint32_t k = 0; k <= n && right > d; k++)
            right -= taken_off(a, &c->copy[k], s, lambda);
        if (lambda > 0 && right - d > fmax(a->least, a->over)) {
            a->over = right - d;
            best = n + 1;
        }
    }
    return best;
}

/* Replaces the best row by one of these copies, of an interval whose d[u] are those of
 * s <= u <= t. */
static void find_wait(struct call *a, uint32_t s, uint32_t t, double ops) {
    struct rp_interval_cuts *c = a->c;
    double lambda = -ops;
    uint32_t n = best_set(a, s, ops, waited(a, s, t));
    for (uint32_t k = 0; k < n; k++)
        lambda += c->copy[k].ns;
    double rhs = -lambda;
    if (n == 0)
        return;
    for (uint32_t k = 0; k < n; k++) {
        const struct rp_interval_copy *q = &c->copy[k];
        double coef = fmin(q->ns, lambda);
        rhs += coef;
        add(a, coef, q->kind, q->t, q->x);
        if (q->kind == RP_INTERVAL_U)
            add(a, -coef, RP_INTERVAL_F, s, q->x);
    }
    rp_interval_row_add_d(&c->row, -1, s, t);
    rp_row_set_fini(&c->found);
    rp_interval_row_end(&c->row, rhs, &c->found);
}

static void begin_waits(struct call *a) {
    a->c->n_copies = 0;
    a->over = 0;
    rp_row_set_fini(&a->c->found);
}

static void end_waits(struct call *a) {
    a->c->n[a->family] += a->c->found.n;
    rp_row_set_copy_all(a->rows, &a->c->found);
}

static void find_wait_out(struct call *a, uint32_t b) {
    begin_waits(a);
    for (uint32_t op = b; op-- > rp_interval_first_op(a->m);) {
        uint32_t before = a->c->n_copies;
        for (uint32_t x = a->p->output_start[op]; x < a->p->output_start[op + 1]; x++)
            push_copy(a, RP_INTERVAL_O, b, x);
        if (a->c->n_copies > before)
            find_wait(a, op + 1, b, rp_interval_ops_between(a->m, op, b));
    }
    end_waits(a);
}

static void push_copies_in(struct call *a, uint32_t s) {
    const struct rp_interval_cuts *c = a->c;
    for (uint32_t k = c->read_start[s]; k < c->read_start[s + 1]; k++)
        push_copy(a, RP_INTERVAL_U, s, c->read.at[k]);
}

static void find_wait_in(struct call *a, uint32_t t) {
    begin_waits(a);
    for (uint32_t s = t + 1; s-- > a->m->first;) {
        uint32_t before = a->c->n_copies;
        push_copies_in(a, s);
        if (a->c->n_copies > before)
            find_wait(a, s, t, rp_interval_ops_between(a->m, (int64_t)s - 1, t));
    }
    end_waits(a);
}

/* ---- (M13d) ---- */

static void find_round_trip(struct call *a, uint32_t x) {
    uint32_t maker = a->p->producer[x];
    for (uint32_t t = maker + 1; maker + 1 >= a->m->first && t <= a->m->last; t++) {
        double lost =
            out_time(a, x) + in_time(a, x) - rp_interval_ops_between(a->m, maker, t);
        if (lost <= 0)
            break;
        if (lost * value(a, RP_INTERVAL_U, t, x) - waited(a, maker + 1, t) < a->least)
            continue;
        add(a, lost, RP_INTERVAL_U, t, x);
        rp_interval_row_add_d(&a->c->row, -1, maker + 1, t);
        end_row(a, 0);
    }
}

/* ---- all ---- */

static void measure_d(struct call *a) {
    for (uint32_t t = 0; t <= a->p->n_ops; t++)
        a->c->d_before[t + 1] = a->c->d_before[t] + value(a, RP_INTERVAL_D, t, 0);
}

static void find_paths(struct call *a, bool room) {
    uint32_t before = a->rows->n;
    struct rp_interval_cuts *c = a->c;
    c->n[RP_CUT_PATH] +=
        rp_interval_paths_find(&c->paths, a->v, room, &c->row, a->rows, &c->steps);
    for (uint32_t i = before; i < a->rows->n; i++)
        a->rows->name[i].kind = RP_ROW_PATH;
}

static void find_chains(struct call *a) {
    struct rp_interval_cuts *c = a->c;
    c->n[RP_CUT_CHAIN] +=
        rp_interval_chains_find(&c->chains, a->v, c->d_before, a->least, &c->row, a->rows);
    c->steps += c->chains.steps;
}

/* Calls `find` for i = first .. end - 1, unless the family is left out. */
static void each(struct call *a, uint32_t skip, enum rp_interval_family family,
                 void (*find)(struct call *, uint32_t), uint32_t first, uint32_t end) {
    a->family = family;
    for (uint32_t i = first; i < end && (skip >> family & 1) == 0; i++)
        find(a, i);
}

uint32_t rp_interval_cuts_find(struct rp_interval_cuts *c, const double *v, double least,
                               uint32_t skip, struct rp_row_set *rows) {
    const struct rp_instance *p = c->model->instance;
    struct call a = {c, c->model, p, v, least, rows, RP_CUT_MEMORY_K, 0};
    uint32_t before = rows->n;
    uint32_t first = a.m->first, end = a.m->last + 1;
    uint32_t first_op = rp_interval_first_op(a.m), end_op = rp_min_u32(end, p->n_ops);
    c->steps += ((uint64_t)end - first) *
                (p->n_tensors + c->read_start[end] - c->read_start[first]);
    measure_d(&a);
    each(&a, skip, RP_CUT_MEMORY_K, find_memory_k, first, end);
    each(&a, skip, RP_CUT_MEMORY_TWO, find_memory_two, first, end);
    each(&a, skip, RP_CUT_COVER, find_cover, first_op, end_op);
    bool room = c->model->room_bytes != NULL && (skip >> RP_CUT_ROOM & 1) == 0;
    if (room)
        each(&a, skip, RP_CUT_ROOM, find_room, first_op, end_op);
    if ((skip >> RP_CUT_PATH & 1) == 0)
        find_paths(&a, room);
    if (p->out_ns != NULL) {
        each(&a, skip, RP_CUT_OUT, find_out, first, end);
        each(&a, skip, RP_CUT_IN, find_in, first, end);
        each(&a, skip, RP_CUT_WAIT_OUT, find_wait_out, first, end);
        each(&a, skip, RP_CUT_WAIT_IN, find_wait_in, first, end);
        if ((skip >> RP_CUT_CHAIN & 1) == 0)
            find_chains(&a);
        each(&a, skip, RP_CUT_EARLY_FREE, find_early_frees, first, end);
        each(&a, skip, RP_CUT_ROUND_TRIP, find_round_trip, 0, p->n_tensors);
    }
    return rows->n - before;
}
