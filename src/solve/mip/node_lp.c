#include "solve/mip/node_lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/params.h"
#include "solve/lp/bound_ns.h"

/* ---- bounds ---- */

uint64_t rp_node_lp_bound_ns(const struct rp_branch_cut *bc, double bound) {
    return rp_bound_ns(bound / bc->m.formulation.time_scale, bc->divisor_ns);
}

uint64_t rp_node_lp_goal_ns(const struct rp_branch_cut *bc) {
    if (bc->best_ns == UINT64_MAX)
        return UINT64_MAX;
    double within = (double)bc->best_ns / (1 + bc->options.gap);
    return bc->options.gap > 0 ? (uint64_t)ceil(within) : bc->best_ns;
}

uint64_t rp_node_lp_target_ns(const struct rp_branch_cut *bc) {
    return rp_min_u64(rp_node_lp_goal_ns(bc), bc->cutoff_ns);
}

void rp_node_lp_record_pruned(struct rp_branch_cut *bc, uint64_t bound_ns) {
    bc->pruned_bound_ns = rp_min_u64(bc->pruned_bound_ns, bound_ns);
}

/* Scaled objective at which the simplex method may stop. */
static double scaled_cutoff(const struct rp_branch_cut *bc) {
    if (bc->best_ns == UINT64_MAX)
        return HUGE_VAL;
    return (double)rp_node_lp_target_ns(bc) * bc->m.formulation.time_scale * (1 + 1e-9) +
           1e-9;
}

/* ---- models ---- */

static void add_sums(struct rp_branch_cut *bc) {
    const struct rp_formulation *f = &bc->m.formulation;
    uint32_t n_ops = bc->instance->n_ops;
    uint32_t *cols = rp_calloc(n_ops, sizeof *cols);
    bc->m.sum_of = rp_calloc(n_ops, sizeof *bc->m.sum_of);
    bc->m.n_all = f->n_cols;
    for (uint32_t j = 0; j < n_ops && !bc->options.no_sums; j++) {
        uint32_t n = 0;
        for (uint32_t t = j + 1; t <= f->r_last[j]; t++)
            if (rp_formulation_run(f, t, j) < f->n_cols)
                cols[n++] = rp_formulation_run(f, t, j);
        if (n == 0)
            continue;
        bc->m.sum_of[bc->m.n_all - f->n_cols] = j;
        bc->m.n_all = rp_lp_add_sum(bc->m.lp, n, cols) + 1;
    }
    free(cols);
}

/* Makes everything of bc->m that depends on its formulation. */
static void build_model(struct rp_branch_cut *bc) {
    struct rp_row_set rows = {0};
    rp_separation_init(&bc->m.separation, &bc->m.formulation, bc->options.skip_cuts);
    rp_formulation_rows(&bc->m.formulation, &rows);
    for (uint32_t t = 0; t < bc->instance->n_ops; t++)
        rp_sep_memory_row(&bc->m.separation.memory, t, t, NULL, &rows);
    bc->m.lp = rp_lp_new(bc->options.engine, bc->m.formulation.n_cols,
                         bc->m.formulation.cost, bc->m.formulation.fixed_cost);
    add_sums(bc);
    struct rp_sparse_rows view = rp_row_set_view(&rows, 0);
    rp_lp_add_rows(bc->m.lp, &view);
    bc->m.n_base_rows = rp_lp_n_rows(bc->m.lp);
    rp_row_set_fini(&rows);
    bc->m.v = rp_calloc(bc->m.n_all, sizeof *bc->m.v);
    bc->m.reduced = rp_calloc(bc->m.n_all, sizeof *bc->m.reduced);
    bc->m.pseudo_cost = rp_calloc(bc->m.n_all, sizeof *bc->m.pseudo_cost);
    bc->m.low = rp_calloc(bc->m.n_all, sizeof *bc->m.low);
    bc->m.high = rp_calloc(bc->m.n_all, sizeof *bc->m.high);
    for (uint32_t j = 0; j < bc->m.n_all; j++)
        bc->m.high[j] = (uint32_t)rp_lp_high(bc->m.lp, j);
}

static void discard_model(struct model *m) {
    rp_separation_fini(&m->separation);
    rp_lp_free(m->lp);
    rp_row_set_fini(&m->cuts);
    rp_formulation_fini(&m->formulation);
    free(m->sum_of);
    free(m->v);
    free(m->reduced);
    free(m->root_reduced);
    free(m->pseudo_cost);
    free(m->low);
    free(m->high);
    *m = (struct model){0};
}

void rp_node_lp_init(struct rp_branch_cut *bc) {
    rp_formulation_init(&bc->m.formulation, bc->instance,
                        &(struct rp_formulation_options){.base = bc->options.base,
                                                         .known = bc->options.known,
                                                         .no_merge = bc->options.no_merge});
    build_model(bc);
}

void rp_node_lp_fini(struct rp_branch_cut *bc) {
    discard_model(&bc->m);
    discard_model(&bc->full);
}

/* ---- solving ---- */

enum rp_lp_status rp_node_lp_solve(struct rp_branch_cut *bc, uint64_t pivots) {
    uint64_t pivots_before = rp_lp_pivots(bc->m.lp);
    uint64_t pivot_work = rp_lp_pivot_work(bc->m.lp);
    enum rp_lp_status st = rp_lp_solve(bc->m.lp, pivots, scaled_cutoff(bc));
    uint64_t done = rp_lp_pivots(bc->m.lp) - pivots_before;
    bc->bound = rp_lp_bound(bc->m.lp, bc->m.reduced);
    bc->state.statistics.lp_solves++;
    bc->state.statistics.pivots += done;
    bc->state.statistics.work += (done + SOLVE_OVERHEAD_PIVOTS) * pivot_work / 64 + 1;
    return st;
}

void rp_node_lp_change_bounds(struct rp_branch_cut *bc, struct change c) {
    rp_lp_set_bounds(bc->m.lp, c.col, c.low, c.high);
    rp_push(&bc->node.changes, c);
}

void rp_node_lp_add_cuts(struct rp_branch_cut *bc, const struct rp_row_set *rows) {
    rp_row_set_copy_all(&bc->m.cuts, rows);
    struct rp_sparse_rows view = rp_row_set_view(rows, 0);
    rp_lp_add_rows(bc->m.lp, &view);
}

void rp_node_lp_drop_slack_cuts(struct rp_branch_cut *bc) {
    uint32_t n = rp_lp_n_rows(bc->m.lp), base = bc->m.n_base_rows;
    if (n - base <= MAX_MIP_CUTS)
        return;
    bool *drop = rp_calloc(n, sizeof *drop);
    for (uint32_t i = base; i < n; i++)
        drop[i] = rp_lp_row_is_slack(bc->m.lp, i);
    rp_lp_drop_rows(bc->m.lp, drop);
    rp_row_set_drop(&bc->m.cuts, drop + base);
    free(drop);
}

/* ---- reduced-cost fixing ---- */

void rp_node_lp_record_root(struct rp_branch_cut *bc) {
    if (bc->m.root_reduced != NULL && bc->bound <= bc->m.root_bound)
        return;
    if (bc->m.root_reduced == NULL)
        bc->m.root_reduced = rp_calloc(bc->m.n_all, sizeof *bc->m.root_reduced);
    bc->m.root_bound = bc->bound;
    memcpy(bc->m.root_reduced, bc->m.reduced, bc->m.n_all * sizeof *bc->m.reduced);
}

/* Would column `col`, moved from its value at the root, raise the bound to the target? */
static bool fixes(const struct rp_branch_cut *bc, uint32_t col, uint64_t target_ns) {
    return rp_node_lp_bound_ns(bc, bc->m.root_bound + fabs(bc->m.root_reduced[col])) >=
           target_ns;
}

uint32_t rp_node_lp_count_fixed(const struct rp_branch_cut *bc, uint64_t target_ns) {
    uint32_t n = 0;
    for (uint32_t j = 0; j < bc->m.formulation.n_cols; j++)
        n += fixes(bc, j, target_ns);
    return n;
}

void rp_node_lp_fix_columns(struct rp_branch_cut *bc) {
    uint64_t target_ns = rp_node_lp_target_ns(bc);
    if (bc->m.root_reduced == NULL || bc->options.no_fixing || target_ns == UINT64_MAX)
        return;
    for (uint32_t j = 0; j < bc->m.formulation.n_cols; j++) {
        double d = bc->m.root_reduced[j];
        if (bc->m.low[j] == bc->m.high[j] || !fixes(bc, j, target_ns))
            continue;
        bc->m.low[j] = bc->m.high[j] = d < 0;
        rp_lp_set_bounds(bc->m.lp, j, d < 0, d < 0);
        bc->state.statistics.fixed_columns++;
        bc->m.n_fixed++;
        rp_node_lp_record_pruned(bc, target_ns); /* what is cut off is not below it */
    }
}

/* ---- smaller models ---- */

/* Carries the cuts that bind over to bc->m. */
static void carry_cuts(struct rp_branch_cut *bc, const struct model *from) {
    struct rp_row_set carried = {0};
    double *sum = rp_calloc(bc->m.formulation.n_cols, sizeof *sum);
    for (uint32_t i = 0; i < from->cuts.n; i++)
        if (!rp_lp_row_is_slack(from->lp, from->n_base_rows + i))
            rp_formulation_carry_row(&from->formulation, &bc->m.formulation, &from->cuts, i,
                                     sum, &carried);
    rp_node_lp_add_cuts(bc, &carried);
    rp_row_set_fini(&carried);
    free(sum);
}

void rp_node_lp_rebuild(struct rp_branch_cut *bc, bool keep_full) {
    struct model from = bc->m;
    uint64_t target_ns = rp_node_lp_target_ns(bc);
    uint8_t *known = rp_calloc(from.formulation.n_cols, sizeof *known);
    for (uint32_t j = 0; j < from.formulation.n_cols; j++) {
        known[j] = from.low[j] == from.high[j] ? (uint8_t)from.low[j]
                   : fixes(bc, j, target_ns)   ? from.root_reduced[j] < 0
                                               : RP_UNDECIDED;
    }
    rp_node_lp_record_pruned(bc, target_ns);
    bc->m = (struct model){0};
    rp_formulation_init(&bc->m.formulation, bc->instance,
                        &(struct rp_formulation_options){.no_merge = bc->options.no_merge,
                                                         .base = &from.formulation,
                                                         .known = known});
    build_model(bc);
    carry_cuts(bc, &from);
    if (keep_full)
        bc->full = from;
    else
        discard_model(&from);
    free(known);
}

void rp_node_lp_restore_full(struct rp_branch_cut *bc) {
    discard_model(&bc->m);
    bc->m = bc->full;
    bc->full = (struct model){0};
}
