#include "solve/milp_cuts/interval_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/lp/sep_path.h"

#define TIE 1e-9 /* smaller differences do not change the choice of a path */
#define MIN_EFFICACY 0.01

void rp_interval_paths_init(struct rp_interval_paths *c,
                            const struct rp_interval_model *m) {
    const struct rp_instance *p = m->instance;
    *c = (struct rp_interval_paths){.model = m};
    c->runs = rp_calloc(p->n_ops, sizeof *c->runs);
    c->copies = rp_calloc(p->n_tensors, sizeof *c->copies);
    c->supply = rp_calloc(p->n_ops, sizeof *c->supply);
    c->via = rp_calloc(p->n_ops, sizeof *c->via);
    c->length = rp_calloc(p->n_ops, sizeof *c->length);
    c->want = rp_calloc(p->n_tensors, sizeof *c->want);
    c->reader = rp_calloc(p->n_tensors, sizeof *c->reader);
    c->kind = rp_calloc(p->n_tensors, sizeof *c->kind);
}

void rp_interval_paths_fini(struct rp_interval_paths *c) {
    free(c->runs);
    free(c->copies);
    free(c->supply);
    free(c->via);
    free(c->length);
    free(c->want);
    free(c->reader);
    free(c->kind);
    *c = (struct rp_interval_paths){0};
}

static double value(const struct rp_interval_paths *c, enum rp_interval_kind kind,
                    uint32_t t, uint32_t id) {
    return rp_interval_value(c->model, kind, t, id, c->v);
}

/* ---- W ---- */

static void offer_want(struct rp_interval_paths *c, uint32_t x, double w,
                       enum rp_interval_want kind, uint32_t reader) {
    if (w <= c->want[x] + TIE)
        return;
    c->want[x] = w;
    c->kind[x] = kind;
    c->reader[x] = reader;
}

/* Finds W of every tensor that is made before stage b. */
static void find_wants(struct rp_interval_paths *c, uint32_t b) {
    const struct rp_instance *p = c->model->instance;
    for (uint32_t x = 0; x < p->output_start[b]; x++) {
        c->want[x] = 0;
        if (b == p->n_ops && p->kept[x])
            offer_want(c, x, 1, RP_WANT_KEPT, RP_NONE);
        if (p->bytes[x] > 0 && !p->pinned[x])
            offer_want(c, x, rp_interval_value_h(c->model, b + 1, x, c->v),
                       RP_WANT_READABLE, RP_NONE);
        for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
            offer_want(c, x, value(c, RP_INTERVAL_R, b, p->readers[k]), RP_WANT_RUN,
                       p->readers[k]);
    }
}

/* ---- the window ---- */

static void begin_window(struct rp_interval_paths *c) {
    const struct rp_instance *p = c->model->instance;
    memset(c->runs, 0, p->n_ops * sizeof *c->runs);
    memset(c->copies, 0, p->n_tensors * sizeof *c->copies);
}

/* True if something runs again or is read from the host in stage t. */
static bool add_stage(struct rp_interval_paths *c, uint32_t t) {
    const struct rp_instance *p = c->model->instance;
    double sum = 0;
    for (uint32_t j = 0; j < t && j < p->n_ops; j++) {
        double run = value(c, RP_INTERVAL_R, t, j);
        c->runs[j] += run;
        sum += run;
    }
    for (uint32_t x = 0; x < p->output_start[t]; x++) {
        double copy = value(c, RP_INTERVAL_U, t, x);
        c->copies[x] += copy;
        sum += copy;
    }
    return sum > TIE;
}

/* Is V[a][x] the smaller of what T[x] can be? */
static bool takes_available(const struct rp_interval_paths *c, uint32_t a, uint32_t x) {
    return c->available &&
           value(c, RP_INTERVAL_V, a, x) <
               rp_interval_value_h(c->model, a, x, c->v) + c->copies[x] - TIE;
}

static double before(const struct rp_interval_paths *c, uint32_t a, uint32_t x) {
    return takes_available(c, a, x)
               ? value(c, RP_INTERVAL_V, a, x)
               : rp_interval_value_h(c->model, a, x, c->v) + c->copies[x];
}

/* Finds the best paths for the window from stage a on that was added up. */
static void find_paths(struct rp_interval_paths *c, uint32_t a) {
    const struct rp_instance *p = c->model->instance;
    for (uint32_t j = 0; j < a && j < p->n_ops; j++) {
        c->supply[j] = c->runs[j];
        c->via[j] = RP_NONE;
        c->length[j] = 0;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
            uint32_t y = p->inputs[k], maker = p->producer[y];
            double supply = before(c, a, y) + c->supply[maker];
            if (supply < c->supply[j] - TIE) {
                c->supply[j] = supply;
                c->via[j] = y;
                c->length[j] = c->length[maker] + 1;
            }
        }
    }
}

/* ---- the cuts ---- */

struct candidate {
    struct rp_path_window w;
    bool available; /* W is V[b+1][x] */
};
struct candidates {
    RP_VEC(struct candidate);
};

/* Replaces best[x] where the window [a, b] gives a row of higher efficacy. */
static void try_window(struct rp_interval_paths *c, uint32_t a, uint32_t b,
                       struct candidate *best) {
    const struct rp_instance *p = c->model->instance;
    for (uint32_t x = 0; x < p->output_start[a]; x++) {
        uint32_t j = p->producer[x];
        if (c->via[j] == RP_NONE) /* the row then follows from those written out */
            continue;
        double norm = sqrt(2 + c->length[j] + (b - a + 1));
        /* Without W there is no row, though `before` is below 0 where F is above S. */
        double over = c->want[x] > 0 ? c->want[x] - before(c, a, x) - c->supply[j] : 0;
        double available = c->available ? value(c, RP_INTERVAL_V, b + 1, x) -
                                              value(c, RP_INTERVAL_V, a, x) - c->supply[j]
                                        : 0;
        double efficacy = fmax(over, available) / norm;
        if (efficacy > best[x].w.efficacy + TIE)
            best[x] = (struct candidate){{efficacy, a, b, x}, available > over};
    }
}

static void collect(struct rp_interval_paths *c, struct candidates *found,
                    uint64_t *steps) {
    const struct rp_instance *p = c->model->instance;
    struct candidate *best = rp_calloc(p->n_tensors, sizeof *best);
    uint32_t first = rp_max_u32(c->model->first, 1);
    for (uint32_t b = first; b <= c->model->last; b++) {
        memset(best, 0, p->n_tensors * sizeof *best);
        find_wants(c, b);
        begin_window(c);
        for (uint32_t a = b; a >= first; a--) {
            *steps += a;
            /* If nothing happens in stage a, the row of [a + 1, b] is no weaker. */
            if (!add_stage(c, a) && a < b)
                continue;
            *steps += p->input_start[a];
            find_paths(c, a);
            try_window(c, a, b, best);
        }
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (best[x].w.efficacy >= MIN_EFFICACY)
                rp_push(found, best[x]);
    }
    free(best);
}

/* Adds W, and returns the right side. */
static double add_want(const struct rp_interval_paths *c, const struct candidate *k,
                       struct rp_interval_row *row) {
    if (k->available)
        rp_interval_row_add(row, 1, RP_INTERVAL_V, k->w.b + 1, k->w.x);
    else if (c->kind[k->w.x] == RP_WANT_RUN)
        rp_interval_row_add(row, 1, RP_INTERVAL_R, k->w.b, c->reader[k->w.x]);
    else if (c->kind[k->w.x] == RP_WANT_READABLE)
        rp_interval_row_add_h(row, 1, k->w.b + 1, k->w.x);
    return !k->available && c->kind[k->w.x] == RP_WANT_KEPT ? -1 : 0;
}

/* Finds the paths of the candidate's window again, and appends its row. */
static uint32_t append_row(struct rp_interval_paths *c, const struct candidate *k,
                           struct rp_interval_row *row, struct rp_row_set *rows) {
    const struct rp_instance *p = c->model->instance;
    begin_window(c);
    for (uint32_t t = k->w.a; t <= k->w.b; t++)
        add_stage(c, t);
    find_paths(c, k->w.a);
    find_wants(c, k->w.b);
    double rhs = add_want(c, k, row);
    uint32_t x = k->w.x;
    bool available = k->available || takes_available(c, k->w.a, x);
    for (;; x = c->via[p->producer[x]], available = takes_available(c, k->w.a, x)) {
        if (available)
            rp_interval_row_add(row, -1, RP_INTERVAL_V, k->w.a, x);
        else
            rp_interval_row_add_h(row, -1, k->w.a, x);
        for (uint32_t t = k->w.a; t <= k->w.b && !available; t++)
            rp_interval_row_add(row, -1, RP_INTERVAL_U, t, x);
        if (c->via[p->producer[x]] == RP_NONE)
            break;
    }
    for (uint32_t t = k->w.a; t <= k->w.b; t++)
        rp_interval_row_add(row, -1, RP_INTERVAL_R, t, p->producer[x]);
    return rp_interval_row_end(row, rhs, rows) != 0;
}

uint32_t rp_interval_paths_find(struct rp_interval_paths *c, const double *v,
                                bool available, struct rp_interval_row *row,
                                struct rp_row_set *rows, uint64_t *steps) {
    struct candidates found = {0};
    uint32_t n = 0, max = c->model->instance->n_ops;
    c->v = v;
    c->available = available;
    collect(c, &found, steps);
    rp_path_windows_sort(found.at, found.n, sizeof *found.at);
    for (size_t k = 0; k < found.n && k < max; k++)
        n += append_row(c, &found.at[k], row, rows);
    free(found.at);
    return n;
}
