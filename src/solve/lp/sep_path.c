#include "solve/lp/sep_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TINY 1e-9 /* smaller differences choose no other path */

void rp_sep_path_init(struct rp_sep_path *w, const struct rp_formulation *f) {
    const struct rp_instance *p = f->problem;
    *w = (struct rp_sep_path){.form = f};
    w->active = rp_calloc(p->n_ops, sizeof *w->active);
    w->is_active = rp_calloc(p->n_ops, sizeof *w->is_active);
    w->runs = rp_calloc(p->n_ops, sizeof *w->runs);
    w->supply = rp_calloc(p->n_ops, sizeof *w->supply);
    w->via = rp_calloc(p->n_ops, sizeof *w->via);
    w->length = rp_calloc(p->n_ops, sizeof *w->length);
    w->want = rp_calloc(p->n_tensors, sizeof *w->want);
    w->reader = rp_calloc(p->n_tensors, sizeof *w->reader);
}

void rp_sep_path_fini(struct rp_sep_path *w) {
    free(w->active);
    free(w->is_active);
    free(w->runs);
    free(w->supply);
    free(w->via);
    free(w->length);
    free(w->want);
    free(w->reader);
    *w = (struct rp_sep_path){0};
}

/* Ops that never run again at the point have supply 0 and end every path. */
static void find_active(struct rp_sep_path *w, const double *v) {
    const struct rp_formulation *f = w->form;
    w->n_active = 0;
    for (uint32_t j = 0; j < f->problem->n_ops; j++) {
        double sum = 0;
        for (uint32_t t = f->stage_of[j] + 1; t <= f->r_last[j]; t++)
            sum += rp_formulation_value(v, rp_formulation_run(f, t, j));
        w->is_active[j] = sum > TINY;
        if (w->is_active[j])
            w->active[w->n_active++] = j;
        w->runs[j] = w->supply[j] = 0;
        w->via[j] = RP_NONE;
        w->length[j] = 0;
    }
}

/* W of every tensor that an active op makes. */
static void find_wants(struct rp_sep_path *w, uint32_t b, const double *v) {
    const struct rp_formulation *f = w->form;
    const struct rp_instance *p = f->problem;
    for (uint32_t i = 0; i < w->n_active; i++)
        for (uint32_t j = w->active[i], x = p->output_start[j]; x < p->output_start[j + 1];
             x++) {
            w->want[x] = rp_formulation_value(v, rp_formulation_held(f, b + 1, x));
            w->reader[x] = RP_NONE;
            for (uint32_t k = p->reader_start[x];
                 k < p->reader_start[x + 1] && f->stage_of[p->readers[k]] <= b; k++) {
                double run =
                    rp_formulation_value(v, rp_formulation_run(f, b, p->readers[k]));
                if (run > w->want[x] + TINY) {
                    w->want[x] = run;
                    w->reader[x] = p->readers[k];
                }
            }
        }
}

/* Best paths for the window whose runs are summed in w->runs. An op that first runs in the
 * window (j >= a) supplies all. */
static void find_paths(struct rp_sep_path *w, uint32_t a, const double *v) {
    const struct rp_formulation *f = w->form;
    const struct rp_instance *p = f->problem;
    for (uint32_t i = 0; i < w->n_active && f->stage_of[w->active[i]] < a; i++) {
        uint32_t j = w->active[i];
        w->supply[j] = w->runs[j];
        w->via[j] = RP_NONE;
        w->length[j] = 0;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
            uint32_t y = p->inputs[k], q = p->producer[y];
            double s = rp_formulation_value(v, rp_formulation_held(f, a, y)) +
                       (f->stage_of[q] < a ? w->supply[q] : 1);
            if (s < w->supply[j] - TINY) {
                w->supply[j] = s;
                w->via[j] = y;
                w->length[j] = (w->is_active[q] ? w->length[q] : 0) + 1;
            }
        }
    }
}

struct candidate {
    double efficacy;
    uint32_t a, b, x;
};
struct candidates {
    struct candidate *at;
    size_t n, cap;
};

static int by_efficacy(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->efficacy != b->efficacy)
        return a->efficacy > b->efficacy ? -1 : 1;
    return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->b > b->b) - (a->b < b->b);
}

/* Improves best[x] with the window [a, b]. */
static void try_window(struct rp_sep_path *w, uint32_t a, uint32_t b, const double *v,
                       struct candidate *best) {
    const struct rp_formulation *f = w->form;
    const struct rp_instance *p = f->problem;
    for (uint32_t i = 0; i < w->n_active && f->stage_of[w->active[i]] < a; i++) {
        uint32_t j = w->active[i];
        if (w->via[j] == RP_NONE) /* (5) then follows from (2) and (3) */
            continue;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
            double violation = w->want[x] - w->supply[j];
            if (violation <= TINY)
                continue;
            violation -= rp_formulation_value(v, rp_formulation_held(f, a, x));
            double efficacy = violation / sqrt(2 + w->length[j] + (b - a + 1));
            if (efficacy > best[x].efficacy + TINY)
                best[x] = (struct candidate){efficacy, a, b, x};
        }
    }
}

static void add_runs(struct rp_sep_path *w, uint32_t t, const double *v) {
    const struct rp_formulation *f = w->form;
    for (uint32_t i = 0; i < w->n_active && f->stage_of[w->active[i]] <= t; i++)
        w->runs[w->active[i]] +=
            rp_formulation_value(v, rp_formulation_run(f, t, w->active[i]));
}

static void clear_runs(struct rp_sep_path *w) {
    for (uint32_t i = 0; i < w->n_active; i++)
        w->runs[w->active[i]] = 0;
}

static void collect(struct rp_sep_path *w, const double *v, double least,
                    struct candidates *found) {
    const struct rp_instance *p = w->form->problem;
    struct candidate *best = rp_calloc(p->n_tensors, sizeof *best);
    for (uint32_t b = 1; b < w->form->n_stages; b++) {
        memset(best, 0, p->n_tensors * sizeof *best);
        find_wants(w, b, v);
        clear_runs(w);
        for (uint32_t a = b;
             a >= 1 && w->n_active > 0 && a > w->form->stage_of[w->active[0]]; a--) {
            add_runs(w, a, v);
            find_paths(w, a, v);
            try_window(w, a, b, v, best);
        }
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (best[x].efficacy >= least)
                rp_push(found, best[x]);
    }
    free(best);
}

/* With w's paths those of the window again. */
static void append_row(struct rp_sep_path *w, const struct candidate *c, const double *v,
                       struct rp_row_set *rows) {
    const struct rp_formulation *f = w->form;
    const struct rp_instance *p = f->problem;
    clear_runs(w);
    for (uint32_t t = c->a; t <= c->b; t++)
        add_runs(w, t, v);
    find_paths(w, c->a, v);
    find_wants(w, c->b, v);
    uint32_t r = w->reader[c->x], y = c->x, j = p->producer[y];
    rp_row_set_begin(rows, (struct rp_row_name){RP_ROW_WINDOW, c->b, r, c->x, c->a}, 0);
    rp_row_set_term(rows,
                    r == RP_NONE ? rp_formulation_held(f, c->b + 1, y)
                                 : rp_formulation_run(f, c->b, r),
                    1);
    for (;;) {
        rp_row_set_term(rows, rp_formulation_held(f, c->a, y), -1);
        rp_row_set_detail(rows, y);
        j = p->producer[y];
        if (!w->is_active[j] || w->via[j] == RP_NONE)
            break;
        y = w->via[j];
    }
    for (uint32_t t = c->a; t <= c->b; t++)
        rp_row_set_term(rows, rp_formulation_run(f, t, j), -1);
}

uint32_t rp_sep_path_find(struct rp_sep_path *w, const double *v, double least,
                          uint32_t most, struct rp_row_set *rows) {
    struct candidates found = {0};
    uint32_t n = 0;
    find_active(w, v);
    collect(w, v, least, &found);
    if (found.n > 0) /* qsort wants an array even for nothing */
        qsort(found.at, found.n, sizeof *found.at, by_efficacy);
    for (; n < found.n && n < most; n++)
        append_row(w, &found.at[n], v, rows);
    free(found.at);
    return n;
}
