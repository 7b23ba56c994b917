#include "solve/lp/sep_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solve/lp/separation.h"

#define ACTIVE 1e-9       /* an op runs again if its R add up to more */
#define TIE 1e-9          /* smaller differences do not change the choice of a path */
#define MIN_EFFICACY 0.01 /* in branch and cut */

void rp_sep_path_init(struct rp_sep_path *s, const struct rp_formulation *f) {
    const struct rp_instance *p = f->instance;
    *s = (struct rp_sep_path){.formulation = f};
    s->active = rp_calloc(p->n_ops, sizeof *s->active);
    s->is_active = rp_calloc(p->n_ops, sizeof *s->is_active);
    s->runs = rp_calloc(p->n_ops, sizeof *s->runs);
    s->supply = rp_calloc(p->n_ops, sizeof *s->supply);
    s->via = rp_calloc(p->n_ops, sizeof *s->via);
    s->length = rp_calloc(p->n_ops, sizeof *s->length);
    s->run_start = rp_calloc((size_t)f->n_stages + 1, sizeof *s->run_start);
    s->want = rp_calloc(p->n_tensors, sizeof *s->want);
    s->reader = rp_calloc(p->n_tensors, sizeof *s->reader);
}

void rp_sep_path_fini(struct rp_sep_path *s) {
    free(s->active);
    free(s->is_active);
    free(s->runs);
    free(s->supply);
    free(s->via);
    free(s->length);
    free(s->run_start);
    free(s->stage_runs.at);
    free(s->want);
    free(s->reader);
    *s = (struct rp_sep_path){0};
}

/* Finds the ops that run again at the point. The others have supply 0 and end every path.
 */
static void find_active(struct rp_sep_path *s, const double *v) {
    const struct rp_formulation *f = s->formulation;
    s->n_active = 0;
    for (uint32_t j = 0; j < f->instance->n_ops; j++) {
        double sum = 0;
        for (uint32_t t = f->stage_of[j] + 1; t <= f->r_last[j]; t++)
            sum += rp_formulation_value(v, rp_formulation_run(f, t, j));
        s->is_active[j] = sum > ACTIVE;
        if (s->is_active[j])
            s->active[s->n_active++] = j;
        s->runs[j] = s->supply[j] = 0;
    }
}

/* Lists the runs again of each stage. */
static void list_runs(struct rp_sep_path *s, const double *v) {
    const struct rp_formulation *f = s->formulation;
    s->stage_runs.n = 0;
    for (uint32_t t = 0; t < f->n_stages; t++) {
        for (uint32_t i = 0; i < s->n_active && f->stage_of[s->active[i]] < t; i++) {
            uint32_t j = s->active[i];
            double value = rp_formulation_value(v, rp_formulation_run(f, t, j));
            if (value != 0)
                rp_push(&s->stage_runs, ((struct rp_stage_run){j, value}));
        }
        s->run_start[t + 1] = (uint32_t)s->stage_runs.n;
    }
}

/* Finds W of every tensor that an active op makes. */
static void find_wants(struct rp_sep_path *s, uint32_t b, const double *v) {
    const struct rp_formulation *f = s->formulation;
    const struct rp_instance *p = f->instance;
    for (uint32_t i = 0; i < s->n_active; i++)
        for (uint32_t j = s->active[i], x = p->output_start[j]; x < p->output_start[j + 1];
             x++) {
            s->want[x] = rp_formulation_value(v, rp_formulation_held(f, b + 1, x));
            s->reader[x] = RP_NONE;
            for (uint32_t k = p->reader_start[x];
                 k < p->reader_start[x + 1] && f->stage_of[p->readers[k]] <= b; k++) {
                double run =
                    rp_formulation_value(v, rp_formulation_run(f, b, p->readers[k]));
                if (run > s->want[x] + TIE) {
                    s->want[x] = run;
                    s->reader[x] = p->readers[k];
                }
            }
        }
}

/* Finds the best paths for the window from stage a on whose runs are summed in s->runs. The
 * outputs of an op that first runs in the window are supplied in full. */
static void find_paths(struct rp_sep_path *s, uint32_t a, const double *v) {
    const struct rp_formulation *f = s->formulation;
    const struct rp_instance *p = f->instance;
    for (uint32_t i = 0; i < s->n_active && f->stage_of[s->active[i]] < a; i++) {
        uint32_t j = s->active[i];
        s->supply[j] = s->runs[j];
        s->via[j] = RP_NONE;
        s->length[j] = 0;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
            uint32_t y = p->inputs[k], q = p->producer[y];
            double supply = rp_formulation_value(v, rp_formulation_held(f, a, y)) +
                            (f->stage_of[q] < a ? s->supply[q] : 1);
            if (supply < s->supply[j] - TIE) {
                s->supply[j] = supply;
                s->via[j] = y;
                s->length[j] = (s->is_active[q] ? s->length[q] : 0) + 1;
            }
        }
    }
}

struct windows {
    RP_VEC(struct rp_path_window);
};

static int by_efficacy(const void *left, const void *right) {
    const struct rp_path_window *a = left, *b = right;
    if (a->efficacy != b->efficacy)
        return a->efficacy > b->efficacy ? -1 : 1;
    return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->b > b->b) - (a->b < b->b);
}

void rp_path_windows_sort(void *at, size_t n, size_t size) {
    if (n > 0) /* qsort must not get a null pointer */
        qsort(at, n, size, by_efficacy);
}

/* Replaces best[x] where the window [a, b] gives a row of higher efficacy. */
static void try_window(struct rp_sep_path *s, uint32_t a, uint32_t b, const double *v,
                       struct rp_path_window *best) {
    const struct rp_formulation *f = s->formulation;
    const struct rp_instance *p = f->instance;
    for (uint32_t i = 0; i < s->n_active && f->stage_of[s->active[i]] < a; i++) {
        uint32_t j = s->active[i];
        if (s->via[j] == RP_NONE) /* (5) then follows from (2) and (3) */
            continue;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
            double violation = s->want[x] - s->supply[j];
            if (violation <= TIE)
                continue;
            violation -= rp_formulation_value(v, rp_formulation_held(f, a, x));
            double efficacy = violation / sqrt(2 + s->length[j] + (b - a + 1));
            if (efficacy > best[x].efficacy + TIE)
                best[x] = (struct rp_path_window){efficacy, a, b, x};
        }
    }
}

/* True if an op runs again in stage t. */
static bool add_runs(struct rp_sep_path *s, uint32_t t) {
    for (uint32_t i = s->run_start[t]; i < s->run_start[t + 1]; i++)
        s->runs[s->stage_runs.at[i].op] += s->stage_runs.at[i].value;
    return s->run_start[t + 1] > s->run_start[t];
}

static void clear_runs(struct rp_sep_path *s) {
    for (uint32_t i = 0; i < s->n_active; i++)
        s->runs[s->active[i]] = 0;
}

static void collect(struct rp_sep_path *s, const double *v, double min_efficacy,
                    struct windows *found) {
    const struct rp_instance *p = s->formulation->instance;
    struct rp_path_window *best = rp_calloc(p->n_tensors, sizeof *best);
    for (uint32_t b = 1; b < s->formulation->n_stages; b++) {
        memset(best, 0, p->n_tensors * sizeof *best);
        find_wants(s, b, v);
        clear_runs(s);
        for (uint32_t a = b; !rp_stop_after(s->stop, 2 * (uint64_t)s->n_active) && a >= 1 &&
                             s->n_active > 0 && a > s->formulation->stage_of[s->active[0]];
             a--) {
            /* If nothing runs again in stage a, the row of [a + 1, b] is no weaker by (3),
             * and shorter. */
            if (!add_runs(s, a) && a < b)
                continue;
            find_paths(s, a, v);
            try_window(s, a, b, v, best);
        }
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (best[x].efficacy >= min_efficacy)
                rp_push(found, best[x]);
    }
    free(best);
}

/* Finds the paths of the window again, and appends its row. */
static void append_row(struct rp_sep_path *s, const struct rp_path_window *c,
                       const double *v, struct rp_row_set *rows) {
    const struct rp_formulation *f = s->formulation;
    const struct rp_instance *p = f->instance;
    clear_runs(s);
    for (uint32_t t = c->a; t <= c->b; t++)
        add_runs(s, t);
    find_paths(s, c->a, v);
    find_wants(s, c->b, v);
    uint32_t r = s->reader[c->x], y = c->x, j = p->producer[y];
    rp_row_set_begin(rows, (struct rp_row_name){RP_ROW_PATH, c->b, r, c->x, c->a}, 0);
    rp_row_set_term(rows,
                    r == RP_NONE ? rp_formulation_held(f, c->b + 1, y)
                                 : rp_formulation_run(f, c->b, r),
                    1);
    for (;;) {
        rp_row_set_term(rows, rp_formulation_held(f, c->a, y), -1);
        rp_row_set_detail(rows, y);
        j = p->producer[y];
        if (!s->is_active[j] || s->via[j] == RP_NONE)
            break;
        y = s->via[j];
    }
    for (uint32_t t = c->a; t <= c->b; t++)
        rp_row_set_term(rows, rp_formulation_run(f, t, j), -1);
}

uint32_t rp_sep_path_find(struct rp_sep_path *s, const double *v, double min_efficacy,
                          uint32_t max_rows, struct rp_row_set *rows) {
    struct windows found = {0};
    uint32_t n = 0;
    find_active(s, v);
    list_runs(s, v);
    collect(s, v, min_efficacy, &found);
    rp_path_windows_sort(found.at, found.n, sizeof *found.at);
    for (; n < found.n && n < max_rows; n++)
        append_row(s, &found.at[n], v, rows);
    free(found.at);
    return n;
}

/* ---- the family of cuts ---- */

static void *create(const struct rp_formulation *f) {
    struct rp_sep_path *s = rp_calloc(1, sizeof *s);
    rp_sep_path_init(s, f);
    return s;
}

static void destroy(void *state) {
    rp_sep_path_fini(state);
    free(state);
}

static uint32_t find(void *state, uint32_t t, const double *v, struct rp_row_set *rows,
                     uint64_t *terms) {
    struct rp_sep_path *s = state;
    uint32_t n_ops = s->formulation->instance->n_ops;
    (void)t;
    uint32_t n = rp_sep_path_find(s, v, MIN_EFFICACY, n_ops, rows);
    *terms += (uint64_t)n_ops * n_ops * s->n_active;
    return n;
}

const struct rp_cut_family rp_sep_path_family = {
    .name = "path", .create = create, .destroy = destroy, .find = find};
