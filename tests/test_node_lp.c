/* Tests of the LP of branch and cut, and of what its files share (mip_internal.h). */
#include "solve/mip/node_lp.h"

#include <string.h>

#include "gen.h"
#include "run.h"
#include "solve/core/params.h"

/* Branch and cut over a small training step, before its first LP. */
struct scene {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_branch_cut *bc;
};

static void make_step(uint64_t seed, uint32_t n_ops, struct scene *s) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    uint32_t op;
    shape.training = true;
    shape.once_percent = 0;
    rp_gen_graph(seed, &shape, &s->g);
    rp_instance_init(&s->p, &s->g, s->g.fixed_bytes, false, NULL);
    s->p.limit_bytes = rp_instance_floor(&s->p, &op) * 5 / 4;
}

static void open_scene(const struct rp_branch_cut_options *o, struct scene *s) {
    make_step(2, 10, s);
    s->bc = rp_branch_cut_new(&s->p, o);
}

static void close_scene(struct scene *s) {
    rp_branch_cut_free(s->bc);
    rp_instance_fini(&s->p);
    rp_graph_fini(&s->g);
}

static const struct rp_branch_cut_options plain = {0};

static void bounds_become_the_next_multiple_of_the_divisor(void) {
    struct scene s;
    open_scene(&plain, &s);
    s.bc->m.formulation.time_scale = 0.5;
    s.bc->divisor_ns = 7;
    CU_ASSERT_EQUAL(rp_node_lp_bound_ns(s.bc, -1), 0);
    CU_ASSERT_EQUAL(rp_node_lp_bound_ns(s.bc, 0), 0);
    CU_ASSERT_EQUAL(rp_node_lp_bound_ns(s.bc, 3.5), 7);
    CU_ASSERT_EQUAL(rp_node_lp_bound_ns(s.bc, 3.6), 14);
    /* Large ones are rounded down, and the largest are none. */
    CU_ASSERT_EQUAL(rp_node_lp_bound_ns(s.bc, 2e15), UINT64_C(3999999999999996));
    /* Plans take up to 2^63 - 1. */
    CU_ASSERT(rp_node_lp_bound_ns(s.bc, 4.6e18) <= UINT64_C(9200000000000000000));
    CU_ASSERT_EQUAL(rp_node_lp_bound_ns(s.bc, 0x1p62), UINT64_MAX);
    close_scene(&s);
}

static void without_a_gap_the_goal_is_the_incumbent(void) {
    struct scene s;
    open_scene(&plain, &s);
    s.bc->best_ns = (UINT64_C(1) << 53) + 1; /* no double has this value */
    CU_ASSERT_EQUAL(rp_node_lp_goal_ns(s.bc), (UINT64_C(1) << 53) + 1);
    s.bc->best_ns = 1001;
    s.bc->options.gap = 0.1;
    CU_ASSERT_EQUAL(rp_node_lp_goal_ns(s.bc), 910);
    s.bc->cutoff_ns = 900;
    CU_ASSERT_EQUAL(rp_node_lp_target_ns(s.bc), 900);
    close_scene(&s);
}

/* Adds n rows x[0] <= 5, which no vertex meets with equality. */
static void add_slack_rows(struct rp_branch_cut *bc, uint32_t n) {
    struct rp_row_set rows = {0};
    for (uint32_t i = 0; i < n; i++) {
        rp_row_set_begin(&rows, (struct rp_row_name){.kind = RP_ROW_OTHER}, 5);
        rp_row_set_term(&rows, 0, 1);
    }
    rp_node_lp_add_cuts(bc, &rows);
    rp_row_set_fini(&rows);
    CU_ASSERT_EQUAL(rp_node_lp_solve(bc, 100000), RP_LP_OPTIMAL);
    rp_lp_point(bc->m.lp, bc->m.v);
}

/* Cuts a fractional value of the vertex by half. Returns its column. */
static uint32_t add_binding_row(struct rp_branch_cut *bc) {
    struct rp_row_set rows = {0};
    uint32_t col = 0;
    while (bc->m.v[col] < 0.1 || bc->m.v[col] > 0.9)
        col++;
    CU_ASSERT_FATAL(col < bc->m.formulation.n_cols);
    rp_row_set_begin(&rows, (struct rp_row_name){.kind = RP_ROW_OTHER}, bc->m.v[col] / 2);
    rp_row_set_term(&rows, col, 1);
    rp_node_lp_add_cuts(bc, &rows);
    rp_row_set_fini(&rows);
    return col;
}

static uint32_t n_cuts(const struct rp_branch_cut *bc) {
    CU_ASSERT_EQUAL(rp_lp_n_rows(bc->m.lp) - bc->m.n_base_rows, bc->m.cuts.n);
    return bc->m.cuts.n;
}

static void slack_cuts_are_dropped_once_there_are_many(void) {
    struct scene s;
    open_scene(&plain, &s);
    add_slack_rows(s.bc, 1);
    uint32_t col = add_binding_row(s.bc);
    add_slack_rows(s.bc, MAX_MIP_CUTS - 2);
    rp_node_lp_drop_slack_cuts(s.bc);
    CU_ASSERT_EQUAL(n_cuts(s.bc), MAX_MIP_CUTS); /* not too many */
    double bound = s.bc->bound;
    add_slack_rows(s.bc, 1);
    rp_node_lp_drop_slack_cuts(s.bc);
    CU_ASSERT_EQUAL_FATAL(n_cuts(s.bc), 1);
    CU_ASSERT_EQUAL(s.bc->m.cuts.col[0], col);
    CU_ASSERT_EQUAL(rp_node_lp_solve(s.bc, 100000), RP_LP_OPTIMAL);
    CU_ASSERT_DOUBLE_EQUAL(s.bc->bound, bound, 1e-6);
    close_scene(&s);
}

/* Each node begins without them. */
static void many_slack_cuts_do_not_outlive_a_node(void) {
    struct rp_branch_cut_state state;
    struct scene s;
    open_scene(&(struct rp_branch_cut_options){.skip_cuts = UINT32_MAX, .no_fixing = true},
               &s);
    add_slack_rows(s.bc, MAX_MIP_CUTS + 1);
    rp_branch_cut_run(s.bc, UINT64_MAX / 2, &state);
    CU_ASSERT(state.statistics.nodes > 1 && n_cuts(s.bc) < MAX_MIP_CUTS);
    close_scene(&s);
}

static void no_work_is_done_without_any_allotted(void) {
    struct rp_branch_cut_state state;
    struct scene s;
    open_scene(&plain, &s);
    CU_ASSERT_EQUAL(rp_branch_cut_run(s.bc, 0, &state), RP_BRANCH_CUT_PAUSED);
    CU_ASSERT_EQUAL(state.statistics.lp_solves, 0);
    close_scene(&s);
}

/* The root is separated sixty times at most. */
static void separation_of_the_root_ends(void) {
    for (uint32_t n = 59; n <= 60; n++) {
        struct rp_branch_cut_state state;
        struct scene s;
        open_scene(&(struct rp_branch_cut_options){.no_fixing = true}, &s);
        s.bc->n_separations = n;
        rp_branch_cut_run(s.bc, 1, &state); /* one LP, and what follows */
        CU_ASSERT_EQUAL(rp_branch_cut_statistics_cuts(&state.statistics) > 0, n < 60);
        CU_ASSERT_EQUAL(state.root_bound_ns > 0, n == 60);
        close_scene(&s);
    }
}

/* Of all op times, unless their sum is too large for doubles. */
static void the_divisor_divides_all_times(void) {
    static const struct {
        uint64_t first_ns, divisor_ns;
    } cases[] = {{0, 6}, {4, 2}, {5, 1}, {UINT64_C(1) << 50, 1}};
    for (int k = 0; k < 4; k++) {
        struct scene s;
        open_scene(&plain, &s);
        rp_branch_cut_free(s.bc);
        uint64_t others_ns = k == 3 ? 0 : 6;
        for (uint32_t j = 0; j < s.p.n_ops; j++)
            s.p.time_ns[j] = j == 0 ? cases[k].first_ns : others_ns;
        s.bc = rp_branch_cut_new(&s.p, &plain);
        CU_ASSERT_EQUAL(s.bc->divisor_ns, cases[k].divisor_ns);
        close_scene(&s);
    }
}

static void the_cuts_are_counted_without_other_counters(void) {
    struct rp_branch_cut_statistics s;
    for (size_t i = 0; i < sizeof s / sizeof(uint64_t); i++)
        memcpy((char *)&s + i * sizeof(uint64_t), &(uint64_t){1}, sizeof(uint64_t));
    s.cuts.exact_covers = 10;
    s.cuts.terms = 100;
    CU_ASSERT_EQUAL(rp_branch_cut_statistics_cuts(&s), 10 + RP_MAX_CUT_FAMILIES);
}

/* A schedule outside of the smaller model is not below the cutoff that made it. It may be
 * just as fast as that. */
static void a_smaller_model_proves_no_more_than_its_cutoff(void) {
    struct scene s;
    open_scene(&plain, &s);
    CU_ASSERT_EQUAL(rp_node_lp_solve(s.bc, 100000), RP_LP_OPTIMAL);
    rp_node_lp_record_root(s.bc);
    s.bc->cutoff_ns = rp_node_lp_bound_ns(s.bc, s.bc->bound) + 1;
    CU_ASSERT(rp_node_lp_count_fixed(s.bc, s.bc->cutoff_ns) > 0);
    CU_ASSERT_EQUAL(s.bc->pruned_bound_ns, UINT64_MAX);
    rp_node_lp_rebuild(s.bc, true);
    CU_ASSERT_EQUAL(s.bc->pruned_bound_ns, s.bc->cutoff_ns);
    close_scene(&s);
}

/* Beyond 2^52 ns bounds are rounded down, so that none reaches the time of a schedule. The
 * search ends all the same: a vertex that is a schedule is left for good, and so is a
 * cutoff that leaves out nothing better, or a model without columns. */
static void the_search_ends_where_bounds_are_rounded_down(void) {
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct rp_branch_cut_state state;
        struct scene s;
        make_step(seed, 10, &s);
        for (uint32_t j = 0; j < s.p.n_ops; j++)
            s.p.time_ns[j] *= UINT64_C(1) << 44;
        s.bc = rp_branch_cut_new(&s.p, &plain);
        rp_branch_cut_run(s.bc, 100000, &state);
        CU_ASSERT(state.status == RP_BRANCH_CUT_FAILED && state.found);
        CU_ASSERT(state.bound_ns <= state.time_ns);
        CU_ASSERT(state.bound_ns > state.time_ns - 100);
        close_scene(&s);
    }
}

/* The full model makes use of a time that was reached while a smaller one was searched. */
static void an_incumbent_fixes_columns_after_a_cutoff(void) {
    struct rp_branch_cut_state state;
    struct scene s;
    make_step(2, 18, &s);
    s.bc = rp_branch_cut_new(&s.p, &plain);
    do {
        rp_branch_cut_run(s.bc, 1, &state);
    } while (state.status == RP_BRANCH_CUT_PAUSED &&
             (!s.bc->trying_cutoff || s.bc->has_node || s.bc->open.n > 0));
    CU_ASSERT_FATAL(s.bc->trying_cutoff);
    uint32_t n_fixed = s.bc->full.n_fixed;
    uint64_t cutoff_ns = s.bc->cutoff_ns;
    s.bc->best_ns = cutoff_ns + 1;
    do {
        rp_branch_cut_run(s.bc, 1, &state);
    } while (state.status == RP_BRANCH_CUT_PAUSED && s.bc->cutoff_ns == cutoff_ns);
    CU_ASSERT(s.bc->trying_cutoff && s.bc->full.n_fixed > n_fixed);
    close_scene(&s);
}

void suite_node_lp(void) {
    RP_SUITE("node_lp");
    RP_TEST(bounds_become_the_next_multiple_of_the_divisor);
    RP_TEST(without_a_gap_the_goal_is_the_incumbent);
    RP_TEST(slack_cuts_are_dropped_once_there_are_many);
    RP_TEST(many_slack_cuts_do_not_outlive_a_node);
    RP_TEST(no_work_is_done_without_any_allotted);
    RP_TEST(separation_of_the_root_ends);
    RP_TEST(the_divisor_divides_all_times);
    RP_TEST(a_smaller_model_proves_no_more_than_its_cutoff);
    RP_TEST(the_search_ends_where_bounds_are_rounded_down);
    RP_TEST(an_incumbent_fixes_columns_after_a_cutoff);
    RP_TEST(the_cuts_are_counted_without_other_counters);
}
