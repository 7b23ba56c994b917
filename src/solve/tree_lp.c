/* The LP of the exact method: made, solved, cut down to what can still matter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solve/tree_core.h"

#define MOST_CUTS 2000     /* in the LP; then those that are slack go */
#define SOLVE_OVERHEAD 20  /* a solve costs as much as so many pivots more */
#define REBUILD_SHARE 0.15 /* of the columns fixed: then the LP is made anew without them  \
                            */

/* Scaled objective from which the simplex method may stop. */
static double cutoff(const struct rp_tree *tree) {
    if (tree->best_ns == UINT64_MAX)
        return HUGE_VAL;
    return (double)rp_tree_target_ns(tree) * tree->form.time_scale * (1 + 1e-9) + 1e-9;
}

static void add_sums(struct rp_tree *tree) {
    const struct rp_form *f = &tree->form;
    uint32_t n_ops = tree->problem->n_ops;
    uint32_t *cols = rp_calloc(n_ops, sizeof *cols);
    tree->sum_of = rp_calloc(n_ops, sizeof *tree->sum_of);
    tree->n_all = f->n_cols;
    for (uint32_t j = 0; j < n_ops && !tree->options.no_sums; j++) {
        uint32_t n = 0;
        for (uint32_t t = j + 1; t <= f->r_last[j]; t++)
            if (rp_form_run(f, t, j) < f->n_cols)
                cols[n++] = rp_form_run(f, t, j);
        if (n == 0)
            continue;
        tree->sum_of[tree->n_all - f->n_cols] = j;
        tree->n_all = rp_lp_add_sum(tree->lp, n, cols) + 1;
    }
    free(cols);
}

/* Everything that depends on tree->form. */
static void build(struct rp_tree *tree) {
    const struct rp_tree_options *o = &tree->options;
    struct rp_rows rows = {0};
    rp_cuts_init(&tree->cuts, &tree->form, !o->no_windows, !o->no_covers);
    rp_form_rows(&tree->form, &rows);
    for (uint32_t t = 0; t < tree->problem->n_ops; t++)
        rp_memory_row(&tree->cuts.memory, t, t, NULL, &rows);
    tree->lp = rp_lp_new(tree->form.n_cols, tree->form.cost, tree->form.fixed_cost);
    add_sums(tree);
    rp_lp_add_rows(tree->lp, &rows, 0);
    tree->n_base_rows = rp_lp_n_rows(tree->lp);
    rp_rows_fini(&rows);
    tree->v = rp_calloc(tree->n_all, sizeof *tree->v);
    tree->reduced = rp_calloc(tree->n_all, sizeof *tree->reduced);
    tree->history = rp_calloc(tree->n_all, sizeof *tree->history);
    tree->low = rp_calloc(tree->n_all, sizeof *tree->low);
    tree->high = rp_calloc(tree->n_all, sizeof *tree->high);
    for (uint32_t j = 0; j < tree->n_all; j++)
        tree->high[j] = (uint32_t)rp_lp_high(tree->lp, j);
    tree->n_fixed = 0;
}

static void discard(struct rp_tree *tree) {
    rp_cuts_fini(&tree->cuts);
    rp_lp_free(tree->lp);
    rp_rows_fini(&tree->pool);
    free(tree->sum_of);
    free(tree->v);
    free(tree->reduced);
    free(tree->root_reduced);
    free(tree->history);
    free(tree->low);
    free(tree->high);
    tree->root_reduced = NULL;
}

void rp_tree_lp_init(struct rp_tree *tree) {
    rp_form_init(&tree->form, tree->problem,
                 &(struct rp_form_options){.once = tree->options.once,
                                           .no_merge = tree->options.no_merge});
    build(tree);
}

void rp_tree_lp_fini(struct rp_tree *tree) {
    discard(tree);
    rp_form_fini(&tree->form);
}

enum rp_lp_status rp_tree_solve(struct rp_tree *tree, uint64_t pivots) {
    uint64_t pivots_before = rp_lp_pivots(tree->lp);
    uint64_t size = rp_lp_n_rows(tree->lp) + rp_lp_n_cols(tree->lp);
    enum rp_lp_status st = rp_lp_solve(tree->lp, pivots, cutoff(tree));
    uint64_t done = rp_lp_pivots(tree->lp) - pivots_before;
    tree->bound = rp_lp_bound(tree->lp, tree->reduced);
    tree->state.pivots += done;
    tree->state.work += (done + SOLVE_OVERHEAD) * size / 64 + 1;
    return st;
}

void rp_tree_change(struct rp_tree *tree, struct change c) {
    rp_lp_set_bounds(tree->lp, c.col, c.low, c.high);
    rp_push(&tree->here.changes, c);
}

void rp_tree_add_cuts(struct rp_tree *tree, const struct rp_rows *rows) {
    for (uint32_t i = 0; i < rows->n; i++)
        rp_rows_copy(&tree->pool, rows, i);
    rp_lp_add_rows(tree->lp, rows, 0);
}

void rp_tree_drop_slack_cuts(struct rp_tree *tree) {
    uint32_t n = rp_lp_n_rows(tree->lp), base = tree->n_base_rows;
    if (n - base <= MOST_CUTS)
        return;
    struct rp_rows kept = {0};
    bool *drop = rp_calloc(n, sizeof *drop);
    for (uint32_t i = base; i < n; i++) {
        drop[i] = rp_lp_row_is_slack(tree->lp, i);
        if (!drop[i])
            rp_rows_copy(&kept, &tree->pool, i - base);
    }
    rp_lp_drop_rows(tree->lp, drop);
    rp_rows_fini(&tree->pool);
    tree->pool = kept;
    free(drop);
}

void rp_tree_note_root(struct rp_tree *tree) {
    if (tree->root_reduced != NULL && tree->bound <= tree->root_bound)
        return;
    if (tree->root_reduced == NULL)
        tree->root_reduced = rp_calloc(tree->n_all, sizeof *tree->root_reduced);
    tree->root_bound = tree->bound;
    memcpy(tree->root_reduced, tree->reduced, tree->n_all * sizeof *tree->reduced);
}

void rp_tree_fix_columns(struct rp_tree *tree) {
    if (tree->root_reduced == NULL || tree->options.no_fixing ||
        tree->best_ns == UINT64_MAX)
        return;
    uint64_t target = rp_tree_target_ns(tree);
    for (uint32_t j = 0; j < tree->form.n_cols; j++) {
        double d = tree->root_reduced[j];
        if (tree->low[j] == tree->high[j] ||
            rp_tree_bound_ns(tree, tree->root_bound + fabs(d)) < target)
            continue;
        tree->low[j] = tree->high[j] = d < 0;
        rp_lp_set_bounds(tree->lp, j, d < 0, d < 0);
        tree->state.fixed++;
        tree->n_fixed++;
    }
    if (tree->n_fixed > 0) /* what was cut off is no better than this */
        rp_tree_close_at(tree, target);
}

/* The row of the old formulation in columns of the new one. */
static void carry_row(const struct rp_form *from, const struct rp_form *to,
                      const struct rp_rows *rows, uint32_t i, double *sum,
                      struct rp_rows *out) {
    uint32_t first = rows->start[i], end = rows->start[i + 1];
    rp_rows_begin(out, rows->name[i], rows->rhs[i]);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t k = first; k < end; k++) {
            uint32_t old = rows->col[k], id = from->col_id[old], t = from->col_t[old];
            uint32_t col =
                old < from->n_run_cols ? rp_form_run(to, t, id) : rp_form_held(to, t, id);
            if (col >= to->n_cols) {
                if (pass == 0)
                    rp_rows_term(out, col, rows->coef[k]);
            } else if (pass == 0) {
                sum[col] += rows->coef[k];
            } else if (sum[col] != 0) {
                rp_rows_term(out, col, sum[col]);
                sum[col] = 0;
            }
        }
    for (uint32_t k = rows->detail_start[i]; k < rows->detail_start[i + 1]; k++)
        rp_rows_detail(out, rows->detail[k]);
}

bool rp_tree_rebuild(struct rp_tree *tree) {
    struct rp_form old = tree->form;
    if (tree->n_fixed < REBUILD_SHARE * old.n_cols)
        return false;
    uint8_t *known = rp_calloc(old.n_cols, sizeof *known);
    for (uint32_t j = 0; j < old.n_cols; j++)
        known[j] = tree->low[j] == tree->high[j] ? (uint8_t)tree->low[j] : 2;
    rp_form_init(&tree->form, tree->problem,
                 &(struct rp_form_options){
                     .no_merge = tree->options.no_merge, .base = &old, .known = known});
    struct rp_rows carried = {0};
    double *sum = rp_calloc(tree->form.n_cols, sizeof *sum);
    for (uint32_t i = 0; i < tree->pool.n; i++)
        if (!rp_lp_row_is_slack(tree->lp, tree->n_base_rows + i))
            carry_row(&old, &tree->form, &tree->pool, i, sum, &carried);
    discard(tree);
    build(tree);
    rp_tree_add_cuts(tree, &carried);
    rp_rows_fini(&carried);
    rp_form_fini(&old);
    free(sum);
    free(known);
    return true;
}
