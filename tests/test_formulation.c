#include <stdlib.h>
#include <string.h>

#include "brute.h"
#include "gen.h"
#include "run.h"
#include "solve/core/prune.h"
#include "solve/lp/formulation.h"
#include "solve/lp/sep_cover.h"
#include "solve/lp/sep_memory.h"
#include "solve/lp/sep_path.h"
#include "solve/lp/separation.h"

/* Draws a random set of held tensors for every stage. Only tensors that could have been
 * made are in it. */
static void draw_schedule(struct rp_rng *r, const struct rp_instance *p,
                          struct rp_schedule *s) {
    rp_schedule_keep_all(p, s);
    uint32_t percent = (uint32_t)rp_rng_below(r, 40);
    for (uint32_t t = 1; t <= p->n_ops; t++)
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (p->producer[x] < t && !p->pinned[x] && !(t == p->n_ops && p->kept[x]) &&
                rp_rng_percent(r, percent))
                rp_schedule_set(s, x, t, t, !rp_held(s, t, x));
}

static bool stages_agree_with_brute_force(const struct rp_graph *g,
                                          const struct rp_instance *p,
                                          const struct rp_schedule *s) {
    struct rp_stage_work w = {0};
    bool same = true;
    rp_stage_work_init(p, &w);
    for (uint32_t t = 0; t < p->n_ops; t++) {
        uint64_t time_ns, peak;
        uint32_t now = (uint32_t)s->rows[(size_t)t * s->words];
        uint32_t next = (uint32_t)s->rows[(size_t)(t + 1) * s->words];
        bool can = rp_brute_stage(g, t, now, next, &time_ns, &peak);
        same = same && rp_stage_eval(p, s, t, &w) == can &&
               (!can || (w.stage.time_ns == time_ns && w.stage.peak_bytes == peak));
    }
    rp_stage_work_fini(&w);
    return same;
}

static bool meets_all_rows(const struct rp_row_set *rows, const double *v) {
    for (uint32_t i = 0; i < rows->n; i++)
        if (rp_row_set_left(rows, i, v) > rows->rhs[i])
            return false;
    return true;
}

/* Checks rows (4) of stage t: the sweep finds the true peak of the stage, each row is
 * violated by as much as the sweep says, and a row made at another point is violated by no
 * more. */
static bool memory_rows_are_true(struct rp_sep_memory *m, uint32_t t, const double *v,
                                 const double *elsewhere, uint64_t peak_bytes) {
    const struct rp_instance *p = m->formulation->instance;
    double over[32], max_over = -1e300;
    double truth =
        ((double)peak_bytes - (double)p->limit_bytes) * m->formulation->byte_scale;
    bool good = true;
    rp_sep_memory_sweep(m, t, v, over);
    for (uint32_t k = 0; k <= t; k++) {
        struct rp_row_set rows = {0};
        rp_sep_memory_row(m, t, k, v, &rows);
        rp_sep_memory_row(m, t, k, elsewhere, &rows);
        rp_sep_memory_row(m, t, k, NULL, &rows);
        good = good && rp_row_set_left(&rows, 0, v) - rows.rhs[0] == over[k] &&
               rp_row_set_left(&rows, 1, v) - rows.rhs[1] <= over[k] &&
               rp_row_set_left(&rows, 2, v) - rows.rhs[2] <= over[k];
        max_over = over[k] > max_over ? over[k] : max_over;
        rp_row_set_fini(&rows);
    }
    return good && max_over == truth;
}

static uint32_t n_path_cuts; /* found, to make sure that something was tested */

static bool path_cuts_are_true(const struct rp_formulation *f, const double *elsewhere,
                               const double *v) {
    struct rp_sep_path paths;
    struct rp_row_set rows = {0};
    rp_sep_path_init(&paths, f);
    n_path_cuts += rp_sep_path_find(&paths, elsewhere, 0.01, 1000, &rows);
    bool good = meets_all_rows(&rows, v);
    for (uint32_t i = 0; i < rows.n; i++)
        good = good && rp_row_set_left(&rows, i, elsewhere) > rows.rhs[i];
    rp_sep_path_fini(&paths);
    rp_row_set_fini(&rows);
    return good;
}

/* `s` is sound and pruned. Its point may hold more tensors (of 0 bytes), so the comparison
 * is with the schedule of the point. */
static uint64_t cost_of(const struct rp_formulation *f, const double *v) {
    double cost = f->fixed_cost;
    for (uint32_t i = 0; i < f->n_cols; i++)
        cost += f->cost[i] * v[i];
    return (uint64_t)(cost / f->time_scale + 0.5);
}

static bool rows_are_true(const struct rp_formulation *f, struct rp_schedule *s,
                          struct rp_rng *r) {
    const struct rp_instance *p = f->instance;
    struct rp_sep_memory m;
    struct rp_row_set rows = {0};
    struct rp_stage_work w = {0};
    double *v = calloc(f->n_cols + 1, sizeof *v), *u = calloc(f->n_cols + 1, sizeof *u);
    struct rp_cost given = rp_schedule_cost(p, s);
    bool good = rp_formulation_point(f, s, v);
    rp_formulation_schedule(f, v, 0.5, s);
    struct rp_cost c = rp_schedule_cost(p, s);
    good = good && c.time_ns <= given.time_ns && c.peak_bytes <= given.peak_bytes;
    rp_sep_memory_init(&m, f, true);
    rp_stage_work_init(p, &w);
    rp_formulation_rows(f, &rows);
    good = good && meets_all_rows(&rows, v);
    for (uint32_t i = 0; i < f->n_cols; i++)
        u[i] = (double)rp_rng_below(r, 5) / 4;
    good = good && cost_of(f, v) == c.time_ns;
    for (uint32_t t = 0; t < p->n_ops && good; t++)
        good = rp_stage_eval(p, s, t, &w) &&
               memory_rows_are_true(&m, t, v, u, w.stage.peak_bytes);
    good = good && path_cuts_are_true(f, u, v);
    rp_sep_memory_fini(&m);
    rp_stage_work_fini(&w);
    rp_row_set_fini(&rows);
    free(v);
    free(u);
    return good;
}

/* All that follows from the known values is fixed already. */
static bool nothing_more_follows(const struct rp_formulation *f) {
    struct rp_formulation again;
    uint8_t *known = malloc(f->n_cols + 1);
    memset(known, RP_UNDECIDED, f->n_cols + 1);
    rp_formulation_init(
        &again, f->instance,
        &(struct rp_formulation_options){.base = f, .known = known, .no_merge = true});
    bool same = !again.empty && again.n_cols == f->n_cols;
    rp_formulation_fini(&again);
    free(known);
    return same;
}

static uint32_t n_represented, n_refused;

/* What is a little different from `s` is refused, or its point has the holds and the runs
 * of one schedule. */
static bool a_neighbor_is_told_apart(const struct rp_formulation *f,
                                     const struct rp_schedule *s, struct rp_rng *r) {
    const struct rp_instance *p = f->instance;
    double *v = calloc(f->n_cols + 1, sizeof *v);
    struct rp_schedule other;
    bool good = true;
    rp_schedule_empty(p, &other);
    rp_schedule_copy(&other, s);
    for (uint32_t t = 1; t < p->n_ops; t++)
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (p->producer[x] < t && !p->pinned[x] && rp_rng_percent(r, 5))
                rp_schedule_set(&other, x, t, t, !rp_held(&other, t, x));
    if (rp_schedule_cost(p, &other).sound) {
        bool represented = rp_formulation_point(f, &other, v);
        rp_formulation_schedule(f, v, 0.5, &other);
        good = !represented || cost_of(f, v) == rp_schedule_cost(p, &other).time_ns;
        n_represented += represented;
        n_refused += !represented;
    }
    rp_schedule_fini(&other);
    free(v);
    return good;
}

/* A formulation with some columns fixed to the schedule still represents it, and all of its
 * rows hold. */
static bool refined_rows_are_true(const struct rp_formulation *f, struct rp_schedule *s,
                                  struct rp_rng *r) {
    double *v = calloc(f->n_cols + 1, sizeof *v);
    uint8_t *known = calloc(f->n_cols + 1, 1);
    uint32_t percent = (uint32_t)rp_rng_below(r, 100);
    struct rp_formulation refined;
    bool good = rp_formulation_point(f, s, v), only_zeros = rp_rng_percent(r, 50);
    for (uint32_t j = 0; j < f->n_cols; j++)
        known[j] = rp_rng_percent(r, percent) && !(only_zeros && v[j] > 0) ? (uint8_t)v[j]
                                                                           : RP_UNDECIDED;
    bool no_merge = rp_rng_percent(r, 50);
    rp_formulation_init(
        &refined, f->instance,
        &(struct rp_formulation_options){.base = f, .known = known, .no_merge = no_merge});
    good = good && !refined.empty && rows_are_true(&refined, s, r) &&
           (!no_merge || nothing_more_follows(&refined)) &&
           (!only_zeros || a_neighbor_is_told_apart(&refined, s, r));
    rp_formulation_fini(&refined);
    free(v);
    free(known);
    return good;
}

/* Checks random schedules of one random graph. */
static bool check_one_graph(uint64_t seed) {
    struct rp_rng r = {seed};
    struct rp_gen_shape shape = rp_gen_small(2 + (uint32_t)rp_rng_below(&r, 9));
    struct rp_graph g;
    struct rp_instance p;
    bool good = true;
    shape.once_percent = (uint32_t)rp_rng_below(&r, 2) * 15;
    shape.rules_percent = seed % 2 * 20;
    shape.training = rp_rng_percent(&r, 50);
    rp_gen_graph(seed, &shape, &g);
    rp_instance_init(&p, &g, g.fixed_bytes + rp_rng_below(&r, 20000), false, NULL);
    for (uint32_t i = 0; i < 20 && good; i++) {
        struct rp_schedule s;
        struct rp_formulation f;
        rp_formulation_init(&f, &p, &(struct rp_formulation_options){.no_merge = i % 2});
        draw_schedule(&r, &p, &s);
        struct rp_cost before = rp_schedule_cost(&p, &s);
        good = stages_agree_with_brute_force(&g, &p, &s);
        if (before.sound) {
            good = good && rp_schedule_prune(&p, &s);
            struct rp_cost after = rp_schedule_cost(&p, &s);
            good = good && after.sound && after.time_ns <= before.time_ns &&
                   after.peak_bytes <= before.peak_bytes && rows_are_true(&f, &s, &r) &&
                   refined_rows_are_true(&f, &s, &r);
        }
        rp_schedule_fini(&s);
        rp_formulation_fini(&f);
    }
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return good;
}

static void rows_hold_for_pruned_schedules_and_find_the_peak(void) {
    uint32_t n = 300;
    n_path_cuts = n_represented = n_refused = 0;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++)
        if (!check_one_graph(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("formulation and schedule disagree");
            return;
        }
    CU_ASSERT(rp_gen_one_seed() || n_path_cuts > 1000);
    CU_ASSERT(rp_gen_one_seed() || (n_represented > 100 && n_refused > 100));
}

/* Separates a random point. No cut found may exclude a schedule that just fits. */
static bool cuts_keep_schedules_that_fit(const struct rp_instance *p,
                                         const struct rp_schedule *s, struct rp_rng *r,
                                         struct rp_separation_statistics *found) {
    struct rp_instance tight = *p;
    struct rp_formulation f;
    struct rp_separation separation;
    struct rp_row_set rows = {0};
    tight.limit_bytes = rp_schedule_cost(p, s).peak_bytes;
    rp_formulation_init(&f, &tight, &(struct rp_formulation_options){0});
    rp_separation_init(&separation, &f, 0);
    double *v = calloc(f.n_cols + 1, sizeof *v), *u = calloc(f.n_cols + 1, sizeof *u);
    bool good = rp_formulation_point(&f, s, v);
    for (uint32_t i = 0; i < f.n_cols; i++)
        u[i] = (double)rp_rng_below(r, 5) / 4;
    uint32_t n = rp_separation_find(&separation, u, &rows, found);
    good = good && n == rows.n && meets_all_rows(&rows, v);
    for (uint32_t i = 0; i < rows.n; i++)
        good = good && rp_row_set_left(&rows, i, u) > rows.rhs[i];
    free(v);
    free(u);
    rp_row_set_fini(&rows);
    rp_separation_fini(&separation);
    rp_formulation_fini(&f);
    return good;
}

static void no_cut_removes_a_schedule_that_fits(void) {
    struct rp_separation_statistics found = {0};
    uint32_t n = 150;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++) {
        struct rp_rng r = {seed};
        struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)rp_rng_below(&r, 9));
        struct rp_graph g;
        struct rp_instance p;
        struct rp_schedule s;
        bool good = true;
        shape.training = rp_rng_percent(&r, 70);
        shape.rules_percent = seed % 2 * 15;
        rp_gen_graph(seed, &shape, &g);
        rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
        for (uint32_t i = 0; i < 10 && good; i++) {
            draw_schedule(&r, &p, &s);
            if (rp_schedule_cost(&p, &s).sound && rp_schedule_prune(&p, &s))
                good = cuts_keep_schedules_that_fit(&p, &s, &r, &found);
            rp_schedule_fini(&s);
        }
        rp_instance_fini(&p);
        rp_graph_fini(&g);
        if (!good) {
            rp_gen_failed(seed);
            CU_FAIL("a cut is wrong, or was not violated");
            return;
        }
    }
    for (uint32_t k = 0; rp_cut_family_name(k) != NULL; k++)
        CU_ASSERT(rp_gen_one_seed() || found.found[k] > 100);
}

/* Of the covers below: how many, and by how much they are violated in total, in eighths.
 * Another choice of a cover or of its lifting changes this and may change nothing else. */
enum { ALL_COVERS = 1097, ALL_EIGHTHS = 7905 };

/* Every 0/1 choice of columns that satisfies the row satisfies its cover too, and some
 * choice meets the cover with equality. */
static bool check_one_cover(uint64_t seed, uint32_t *n_found, double *over) {
    struct rp_rng r = {seed};
    struct rp_row_set row = {0}, cover = {0};
    uint32_t n = 2 + (uint32_t)rp_rng_below(&r, 11);
    double v[16], weights = 0;
    bool good = true, tight = false;
    rp_row_set_begin(&row, (struct rp_row_name){.kind = RP_ROW_MEM}, 0);
    for (uint32_t i = 0; i < n; i++) {
        v[i] = (double)rp_rng_below(&r, 9) / 8;
        rp_row_set_term(&row, i, 1 + (double)rp_rng_below(&r, 30) / 4);
        weights += row.coef[i];
    }
    row.rhs[0] = weights * (double)rp_rng_below(&r, 100) / 100;
    if (rp_sep_cover_find(&row, 0, v, 0.01, &cover)) {
        ++*n_found;
        good = rp_row_set_left(&cover, 0, v) > cover.rhs[0];
        for (uint32_t k = 0; k < cover.n_terms; k++)
            good = good && cover.coef[k] > 0;
        *over += rp_row_set_left(&cover, 0, v) - cover.rhs[0];
        for (uint32_t set = 0; set < 1u << n; set++) {
            double x[16];
            for (uint32_t i = 0; i < n; i++)
                x[i] = set >> i & 1;
            if (rp_row_set_left(&row, 0, x) > row.rhs[0])
                continue;
            good = good && rp_row_set_left(&cover, 0, x) <= cover.rhs[0];
            tight = tight || rp_row_set_left(&cover, 0, x) == cover.rhs[0];
        }
        good = good && tight;
    }
    rp_row_set_fini(&row);
    rp_row_set_fini(&cover);
    return good;
}

static void no_cover_removes_a_choice_that_fits(void) {
    uint32_t n = 2000, n_found = 0;
    double over = 0;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++)
        if (!check_one_cover(seed, &n_found, &over)) {
            rp_gen_failed(seed);
            CU_FAIL("a cover cuts off what fits");
            return;
        }
    CU_ASSERT(rp_gen_one_seed() || n_found == ALL_COVERS);
    CU_ASSERT(rp_gen_one_seed() || over * 8 == ALL_EIGHTHS);
}

/* A chain of four ops, and the columns that the reductions leave. The last op's output is
 * kept. */
static void columns_exist_only_where_a_later_op_can_use_them(void) {
    struct rp_gen_shape shape = {.n_ops = 4,
                                 .max_inputs = 1,
                                 .max_outputs = 1,
                                 .reach = 1,
                                 .max_bytes = 9,
                                 .max_time_ns = 9,
                                 .alignment_bytes = 1};
    struct rp_graph g;
    struct rp_instance p;
    struct rp_formulation f;
    rp_gen_graph(1, &shape, &g);
    for (uint32_t x = 0; x < 4; x++)
        g.tensors[x].bytes = 7;
    rp_instance_init(&p, &g, 20, false, NULL);
    rp_formulation_init(&f, &p, &(struct rp_formulation_options){0});
    CU_ASSERT_EQUAL(rp_formulation_run(&f, 2, 2), RP_COL_ONE);
    CU_ASSERT_EQUAL(rp_formulation_run(&f, 1, 2), RP_COL_ZERO);
    CU_ASSERT(rp_formulation_run(&f, 3, 0) < f.n_run_cols);
    CU_ASSERT_EQUAL(rp_formulation_held(&f, 1, 1), RP_COL_ZERO);
    CU_ASSERT_EQUAL(rp_formulation_held(&f, 4, 3), RP_COL_ONE);
    CU_ASSERT_EQUAL(rp_formulation_held(&f, 4, 0), RP_COL_ZERO);
    /* A value at the threshold is not above it, and old holds are gone. */
    struct rp_schedule s;
    double half[64];
    for (uint32_t j = 0; j < f.n_cols; j++) {
        half[j] = 0.5;
        CU_ASSERT_EQUAL(j, j < f.n_run_cols
                               ? rp_formulation_run(&f, f.col_t[j], f.col_id[j])
                               : rp_formulation_held(&f, f.col_t[j], f.col_id[j]));
    }
    rp_schedule_empty(&p, &s);
    rp_schedule_set(&s, 0, 2, 2, true);
    rp_formulation_schedule(&f, half, 0.5, &s);
    CU_ASSERT_FALSE(rp_held(&s, 2, 0));
    CU_ASSERT(rp_held(&s, 4, 3));
    rp_schedule_fini(&s);
    rp_formulation_fini(&f);
    /* What an op makes of no bytes is held, so it does not run again. */
    p.bytes[0] = 0;
    rp_formulation_init(&f, &p, &(struct rp_formulation_options){0});
    CU_ASSERT_EQUAL(rp_formulation_run(&f, 1, 0), RP_COL_ZERO);
    CU_ASSERT_EQUAL(rp_formulation_run(&f, 3, 0), RP_COL_ZERO);
    uint64_t longest = 0;
    for (uint32_t j = 0; j < 4; j++)
        longest = p.time_ns[j] > longest ? p.time_ns[j] : longest;
    CU_ASSERT((double)longest * f.time_scale >= 1 && (double)longest * f.time_scale < 2);
    rp_formulation_fini(&f);
    p.bytes[0] = 7;
    /* If no op may run again, no columns are left. */
    rp_instance_run_once(&p);
    rp_formulation_init(&f, &p, &(struct rp_formulation_options){0});
    CU_ASSERT_EQUAL(f.n_cols, 0);
    CU_ASSERT_EQUAL(rp_formulation_held(&f, 1, 0), RP_COL_ONE);
    rp_formulation_fini(&f);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

void suite_formulation(void) {
    RP_SUITE("formulation");
    RP_TEST(rows_hold_for_pruned_schedules_and_find_the_peak);
    RP_TEST(no_cover_removes_a_choice_that_fits);
    RP_TEST(no_cut_removes_a_schedule_that_fits);
    RP_TEST(columns_exist_only_where_a_later_op_can_use_them);
}
