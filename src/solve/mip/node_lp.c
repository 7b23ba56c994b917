/* The LP of the exact method: made, solved, cut down to what can still matter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solve/mip/mip_internal.h"

#define MAX_CUTS 2000     /* in the LP; then those that are slack go */
#define SOLVE_OVERHEAD 20 /* a solve costs as much as so many pivots more */
#define REBUILD_SHARE                                                                      \
    0.15 /* of the columns fixed: then the LP is made anew without them                    \
          */

/* Scaled objective from which the simplex method may stop. */
static double cutoff(const struct rp_branch_cut *tree) {
    if (tree->best_ns == UINT64_MAX)
        return HUGE_VAL;
    return (double)rp_branch_cut_target_ns(tree) * tree->m.form.time_scale * (1 + 1e-9) +
           1e-9;
}

static void add_sums(struct rp_branch_cut *tree) {
    const struct rp_formulation *f = &tree->m.form;
    uint32_t n_ops = tree->problem->n_ops;
    uint32_t *cols = rp_calloc(n_ops, sizeof *cols);
    tree->m.sum_of = rp_calloc(n_ops, sizeof *tree->m.sum_of);
    tree->m.n_all = f->n_cols;
    for (uint32_t j = 0; j < n_ops && !tree->options.no_sums; j++) {
        uint32_t n = 0;
        for (uint32_t t = j + 1; t <= f->r_last[j]; t++)
            if (rp_formulation_run(f, t, j) < f->n_cols)
                cols[n++] = rp_formulation_run(f, t, j);
        if (n == 0)
            continue;
        tree->m.sum_of[tree->m.n_all - f->n_cols] = j;
        tree->m.n_all = rp_lp_add_sum(tree->m.lp, n, cols) + 1;
    }
    free(cols);
}

/* Everything that depends on tree->m.form. */
static void build(struct rp_branch_cut *tree) {
    const struct rp_branch_cut_options *o = &tree->options;
    struct rp_row_set rows = {0};
    rp_separation_init(&tree->m.cuts, &tree->m.form, !o->no_windows, !o->no_covers);
    rp_formulation_rows(&tree->m.form, &rows);
    for (uint32_t t = 0; t < tree->problem->n_ops; t++)
        rp_sep_memory_row(&tree->m.cuts.memory, t, t, NULL, &rows);
    tree->m.lp = rp_lp_new(tree->m.form.n_cols, tree->m.form.cost, tree->m.form.fixed_cost);
    add_sums(tree);
    rp_lp_add_rows(tree->m.lp, &rows, 0);
    tree->m.n_base_rows = rp_lp_n_rows(tree->m.lp);
    rp_row_set_fini(&rows);
    tree->m.v = rp_calloc(tree->m.n_all, sizeof *tree->m.v);
    tree->m.reduced = rp_calloc(tree->m.n_all, sizeof *tree->m.reduced);
    tree->m.history = rp_calloc(tree->m.n_all, sizeof *tree->m.history);
    tree->m.low = rp_calloc(tree->m.n_all, sizeof *tree->m.low);
    tree->m.high = rp_calloc(tree->m.n_all, sizeof *tree->m.high);
    for (uint32_t j = 0; j < tree->m.n_all; j++)
        tree->m.high[j] = (uint32_t)rp_lp_high(tree->m.lp, j);
    tree->m.n_fixed = 0;
}

static void discard(struct model *m) {
    rp_separation_fini(&m->cuts);
    rp_lp_free(m->lp);
    rp_row_set_fini(&m->pool);
    rp_formulation_fini(&m->form);
    free(m->sum_of);
    free(m->v);
    free(m->reduced);
    free(m->root_reduced);
    free(m->history);
    free(m->low);
    free(m->high);
    *m = (struct model){0};
}

void rp_branch_cut_lp_init(struct rp_branch_cut *tree) {
    rp_formulation_init(
        &tree->m.form, tree->problem,
        &(struct rp_formulation_options){.once = tree->options.once,
                                         .base = tree->options.base,
                                         .known = tree->options.known,
                                         .no_merge = tree->options.no_merge});
    build(tree);
}

void rp_branch_cut_lp_fini(struct rp_branch_cut *tree) {
    discard(&tree->m);
    discard(&tree->whole);
}

enum rp_lp_status rp_branch_cut_solve(struct rp_branch_cut *tree, uint64_t pivots) {
    uint64_t pivots_before = rp_lp_pivots(tree->m.lp);
    uint64_t size = rp_lp_n_rows(tree->m.lp) + rp_lp_n_cols(tree->m.lp);
    enum rp_lp_status st = rp_lp_solve(tree->m.lp, pivots, cutoff(tree));
    uint64_t done = rp_lp_pivots(tree->m.lp) - pivots_before;
    tree->bound = rp_lp_bound(tree->m.lp, tree->m.reduced);
    tree->state.pivots += done;
    tree->state.work += (done + SOLVE_OVERHEAD) * size / 64 + 1;
    return st;
}

void rp_branch_cut_change(struct rp_branch_cut *tree, struct change c) {
    rp_lp_set_bounds(tree->m.lp, c.col, c.low, c.high);
    rp_push(&tree->here.changes, c);
}

void rp_branch_cut_add_cuts(struct rp_branch_cut *tree, const struct rp_row_set *rows) {
    for (uint32_t i = 0; i < rows->n; i++)
        rp_row_set_copy(&tree->m.pool, rows, i);
    rp_lp_add_rows(tree->m.lp, rows, 0);
}

void rp_branch_cut_drop_slack_cuts(struct rp_branch_cut *tree) {
    uint32_t n = rp_lp_n_rows(tree->m.lp), base = tree->m.n_base_rows;
    if (n - base <= MAX_CUTS)
        return;
    struct rp_row_set kept = {0};
    bool *drop = rp_calloc(n, sizeof *drop);
    for (uint32_t i = base; i < n; i++) {
        drop[i] = rp_lp_row_is_slack(tree->m.lp, i);
        if (!drop[i])
            rp_row_set_copy(&kept, &tree->m.pool, i - base);
    }
    rp_lp_drop_rows(tree->m.lp, drop);
    rp_row_set_fini(&tree->m.pool);
    tree->m.pool = kept;
    free(drop);
}

void rp_branch_cut_note_root(struct rp_branch_cut *tree) {
    if (tree->m.root_reduced != NULL && tree->bound <= tree->m.root_bound)
        return;
    if (tree->m.root_reduced == NULL)
        tree->m.root_reduced = rp_calloc(tree->m.n_all, sizeof *tree->m.root_reduced);
    tree->m.root_bound = tree->bound;
    memcpy(tree->m.root_reduced, tree->m.reduced, tree->m.n_all * sizeof *tree->m.reduced);
}

static bool fixes(const struct rp_branch_cut *tree, uint32_t col, uint64_t target_ns) {
    return rp_branch_cut_bound_ns(tree, tree->m.root_bound +
                                            fabs(tree->m.root_reduced[col])) >= target_ns;
}

uint32_t rp_branch_cut_count_fixed(const struct rp_branch_cut *tree, uint64_t target_ns) {
    uint32_t n = 0;
    for (uint32_t j = 0; j < tree->m.form.n_cols; j++)
        n += fixes(tree, j, target_ns);
    return n;
}

void rp_branch_cut_fix_columns(struct rp_branch_cut *tree) {
    uint64_t target_ns = rp_branch_cut_target_ns(tree);
    if (tree->m.root_reduced == NULL || tree->options.no_fixing || target_ns == UINT64_MAX)
        return;
    for (uint32_t j = 0; j < tree->m.form.n_cols; j++) {
        double d = tree->m.root_reduced[j];
        if (tree->m.low[j] == tree->m.high[j] || !fixes(tree, j, target_ns))
            continue;
        tree->m.low[j] = tree->m.high[j] = d < 0;
        rp_lp_set_bounds(tree->m.lp, j, d < 0, d < 0);
        tree->state.fixed++;
        tree->m.n_fixed++;
        rp_branch_cut_close_at(tree,
                               target_ns); /* what is cut off is no better than this */
    }
}

/* The row of the old formulation in columns of the new one. */
static void carry_row(const struct rp_formulation *from, const struct rp_formulation *to,
                      const struct rp_row_set *rows, uint32_t i, double *sum,
                      struct rp_row_set *out) {
    uint32_t first = rows->start[i], end = rows->start[i + 1];
    rp_row_set_begin(out, rows->name[i], rows->rhs[i]);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t k = first; k < end; k++) {
            uint32_t old = rows->col[k], id = from->col_id[old], t = from->col_t[old];
            uint32_t col = old < from->n_run_cols ? rp_formulation_run(to, t, id)
                                                  : rp_formulation_held(to, t, id);
            if (col >= to->n_cols) {
                if (pass == 0)
                    rp_row_set_term(out, col, rows->coef[k]);
            } else if (pass == 0) {
                sum[col] += rows->coef[k];
            } else if (sum[col] != 0) {
                rp_row_set_term(out, col, sum[col]);
                sum[col] = 0;
            }
        }
    for (uint32_t k = rows->detail_start[i]; k < rows->detail_start[i + 1]; k++)
        rp_row_set_detail(out, rows->detail[k]);
}

/* The cuts that bind, in the columns of tree->m. */
static void carry_cuts(struct rp_branch_cut *tree, const struct model *from) {
    struct rp_row_set carried = {0};
    double *sum = rp_calloc(tree->m.form.n_cols, sizeof *sum);
    for (uint32_t i = 0; i < from->pool.n; i++)
        if (!rp_lp_row_is_slack(from->lp, from->n_base_rows + i))
            carry_row(&from->form, &tree->m.form, &from->pool, i, sum, &carried);
    rp_branch_cut_add_cuts(tree, &carried);
    rp_row_set_fini(&carried);
    free(sum);
}

void rp_branch_cut_rebuild(struct rp_branch_cut *tree, bool keep) {
    struct model from = tree->m;
    uint64_t target_ns = rp_branch_cut_target_ns(tree);
    uint8_t *known = rp_calloc(from.form.n_cols, sizeof *known);
    for (uint32_t j = 0; j < from.form.n_cols; j++) {
        known[j] = from.low[j] == from.high[j] ? (uint8_t)from.low[j]
                   : fixes(tree, j, target_ns) ? from.root_reduced[j] < 0
                                               : 2;
    }
    rp_branch_cut_close_at(tree, target_ns);
    tree->m = (struct model){0};
    rp_formulation_init(&tree->m.form, tree->problem,
                        &(struct rp_formulation_options){.no_merge = tree->options.no_merge,
                                                         .base = &from.form,
                                                         .known = known});
    build(tree);
    carry_cuts(tree, &from);
    if (keep)
        tree->whole = from;
    else
        discard(&from);
    free(known);
}

void rp_branch_cut_back_to_whole(struct rp_branch_cut *tree) {
    discard(&tree->m);
    tree->m = tree->whole;
    tree->whole = (struct model){0};
}
