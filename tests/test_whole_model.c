/* Tests of the whole model: what a solver finds in it, as a plan. GLPK solves it here. */
#include "solve/exchange/whole_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "brute.h"
#include "chain.h"
#include "gen.h"
#include "run.h"
#include "solve/core/warm_start.h"
#include "solve/engine/mip_engine.h"
#include "solve/exchange/model_file.h"
#include "solve/exchange/solution_plan.h"
#include "solve/local/shrink_lifetimes.h"
#include "solve/solver.h"
#include "verify/verifier.h"

struct world {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_whole_model m;
    struct rp_solution_options o;
    bool feasible, has_model;
    uint64_t best_ns; /* of schedules without copies */
};

/* A graph of 4 to 8 ops with a limit a little above its floor. */
static bool open_world(struct world *w, uint64_t seed, bool swap) {
    struct rp_rng r = {seed * 31};
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)rp_rng_below(&r, 5));
    struct rp_err err = {{0}};
    shape.max_outputs = 1;
    shape.bandwidths = swap;
    shape.training = swap || seed & 1;
    shape.rules_percent = seed % 3 == 0 ? 20 : 0;
    *w = (struct world){.o.path = "f.sol"};
    rp_gen_graph(seed, &shape, &w->g);
    w->g.device.h2d_bytes_per_s = 1000000000u * (20 + seed * 37 % 200);
    w->g.device.d2h_bytes_per_s = 1000000000u * (20 + seed * 53 % 200);
    uint64_t limit = rp_brute_floor(&w->g) + rp_rng_below(&r, swap ? 500 : 2000);
    w->o.budget_bytes = w->g.fixed_bytes + limit;
    rp_instance_init(&w->p, &w->g, w->o.budget_bytes, false, NULL);
    if (swap)
        rp_instance_allow_swap(&w->p, RP_MAX_QUANTITY);
    w->feasible =
        rp_brute_best(&w->g, limit, &w->best_ns) && w->best_ns <= 2 * w->g.total_time_ns;
    w->has_model = w->feasible && rp_whole_model_init(&w->m, &w->p, &err) == RP_OK;
    return w->has_model == w->feasible;
}

static void close_world(struct world *w) {
    rp_whole_model_fini(&w->m);
    rp_instance_fini(&w->p);
    rp_graph_fini(&w->g);
}

/* The plan of an optimum. False if there is none, or if it is not valid. */
static bool solve(struct world *w, uint64_t *cost_ns, uint64_t *time_ns) {
    double *x = rp_calloc(w->m.named.p.n_cols, sizeof *x);
    struct rp_mip_options o = {.engine = RP_ENGINE_GLPK};
    struct rp_mip_result r;
    struct rp_plan plan = {0};
    struct rp_verdict v;
    struct rp_err err = {{0}};
    bool good = rp_mip_solve(&w->m.named.p, &o, x, &r) == RP_MIP_OPTIMAL && r.found &&
                rp_point_plan(&w->m, &w->o, x, &plan, cost_ns, &err) == RP_OK &&
                rp_verify(&w->g, &plan, &v, &err) == RP_OK;
    if (!good)
        printf("%s\n", err.msg);
    *time_ns = good ? plan.claims.time_ns : 0;
    rp_plan_fini(&plan);
    free(x);
    return good;
}

static void without_copies_its_optimum_is_that_of_all_schedules(void) {
    uint32_t n = 40, n_solved = 0, all = n;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct world w;
        uint64_t cost_ns, time_ns;
        bool good = open_world(&w, seed, false);
        if (good && w.feasible)
            good = solve(&w, &cost_ns, &time_ns) && cost_ns == w.best_ns &&
                   time_ns == w.best_ns;
        n_solved += w.feasible;
        close_world(&w);
        if (!good) {
            rp_gen_failed(seed);
            CU_FAIL("not the optimum");
            return;
        }
    }
    CU_ASSERT(rp_gen_one_seed() || n_solved > all / 2);
}

/* A plan may take longer than its point, seldom: 494 of seeds 100 to 599 do not. */
static void with_copies_its_plans_are_valid_and_mostly_as_fast(void) {
    uint32_t n = 80, n_solved = 0, n_equal = 0, n_copied = 0, all = n;
    for (uint64_t seed = rp_gen_seed(100, &n); n > 0; n--, seed++) {
        struct world w;
        uint64_t cost_ns = 0, time_ns = 0;
        bool good = open_world(&w, seed, true);
        if (good && w.feasible)
            good = solve(&w, &cost_ns, &time_ns) && cost_ns <= w.best_ns;
        n_solved += w.feasible;
        n_equal += w.feasible && cost_ns == time_ns;
        n_copied += w.feasible && cost_ns < w.best_ns;
        close_world(&w);
        if (!good) {
            rp_gen_failed(seed);
            CU_FAIL("no valid plan");
            return;
        }
    }
    CU_ASSERT(rp_gen_one_seed() ||
              (n_solved > all / 2 && n_copied > 5 && n_equal == n_solved));
}

/* ---- plans as points ---- */

/* What the search finds. */
static bool search(const struct world *w, bool swap, struct rp_plan *plan) {
    struct rp_solve_options o = {.budget_bytes = w->o.budget_bytes,
                                 .host_bytes = RP_MAX_QUANTITY,
                                 .recompute = true,
                                 .swap = swap,
                                 .time_limit = 0.05,
                                 .ignore_clock = true,
                                 .seed = 1};
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    return rp_solve(&w->g, &o, plan, &report, &err) == RP_OK;
}

/* Frees are late by this many steps in all, and copies in early. */
static size_t steps_with_storage(const struct rp_plan *plan) {
    size_t n = 0;
    for (size_t i = 0; i < plan->steps.n; i++)
        n += plan->steps.at[i].kind == RP_FREE      ? i
             : plan->steps.at[i].kind == RP_SWAP_IN ? plan->steps.n - i
                                                    : 0;
    return n;
}

/* Nothing has storage longer than it must. */
static bool is_shrunk(const struct rp_graph *g, const struct rp_plan *plan) {
    struct rp_plan again;
    rp_plan_restate(plan, false, plan->budget_bytes, &again);
    rp_shrink_lifetimes(g, &again);
    bool shorter = steps_with_storage(&again) < steps_with_storage(plan);
    rp_plan_fini(&again);
    return !shorter;
}

/* All rows hold at the point of a plan, and its plan takes no longer than it costs.
 * *cost_ns is 0 if the model has no such point, for the one good reason. */
static bool comes_back(const struct world *w, const struct rp_plan *plan,
                       uint64_t *cost_ns) {
    double *x = rp_calloc(w->m.named.p.n_cols, sizeof *x);
    uint64_t back_ns = 0;
    struct rp_plan back = {0};
    struct rp_verdict v;
    struct rp_err err = {{0}};
    bool good = rp_plan_point(&w->m, plan, "p.json", x, cost_ns, &err) == RP_OK &&
                rp_point_plan(&w->m, &w->o, x, &back, &back_ns, &err) == RP_OK &&
                rp_verify(&w->g, &back, &v, &err) == RP_OK && back_ns == *cost_ns &&
                back.claims.time_ns <= back_ns && is_shrunk(&w->g, &back);
    if (strstr(err.msg, "p.json: the model has no such plan") == err.msg &&
        strstr(err.msg, "bytes beside the sources") != NULL)
        good = *cost_ns == 0;
    rp_plan_fini(&back);
    free(x);
    return good;
}

static bool copies(const struct rp_plan *plan) {
    for (size_t i = 0; i < plan->steps.n; i++)
        if (plan->steps.at[i].kind == RP_SWAP_IN)
            return true;
    return false;
}

/* Per row: each M10_out_a_b speaks of something that op a makes, and each stays_t_x has a
 * reader's row behind it. */
static bool rows_have_reasons(const struct world *w) {
    const struct rp_named_milp *n = &w->m.named;
    bool good = true;
    for (uint32_t i = 0; i < n->p.n_rows; i++) {
        uint32_t a, b, c, t, is_made = 0;
        int end = 0;
        if (sscanf(n->rows.at[i], "M10_out_%u_%u", &a, &b) == 2) {
            for (uint32_t x = w->p.output_start[a]; x < w->p.output_start[a + 1]; x++)
                is_made +=
                    rp_interval_at(&w->m.interval, RP_INTERVAL_O, b, x) != RP_COL_ZERO;
            good = good && is_made > 0;
        }
        if (sscanf(n->rows.at[i], "stays_%u_%u%n", &t, &a, &end) == 2 &&
            n->rows.at[i][end] == '\0')
            good = good && i + 1 < n->p.n_rows &&
                   sscanf(n->rows.at[i + 1], "stays_%u_%u_%u", &b, &c, &is_made) == 3 &&
                   b == t && c == a;
    }
    return good;
}

static void no_row_is_without_a_reason(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(300, &n); n > 0; n--, seed++) {
        struct world w;
        bool good = open_world(&w, seed, true) && (!w.feasible || rows_have_reasons(&w));
        close_world(&w);
        if (!good) {
            rp_gen_failed(seed);
            CU_FAIL("a row without a reason");
            return;
        }
    }
}

/* A few plans, of A*, have steps that no schedule has. */
static void plans_are_points_that_cost_their_time(void) {
    uint32_t n = 240, n_plans = 0, n_equal = 0, n_copying = 0;
    for (uint64_t seed = rp_gen_seed(300, &n); n > 0; n--, seed++) {
        struct world w;
        struct rp_plan plan = {0};
        uint64_t cost_ns = 0;
        bool swap = seed % 4 > 0, good = open_world(&w, seed, swap);
        if (good && w.feasible)
            good = search(&w, swap, &plan) && comes_back(&w, &plan, &cost_ns);
        n_plans += w.feasible;
        n_copying += copies(&plan);
        n_equal += w.feasible && cost_ns == plan.claims.time_ns;
        rp_plan_fini(&plan);
        close_world(&w);
        if (!good) {
            rp_gen_failed(seed);
            CU_FAIL("its point breaks a row, or takes longer");
            return;
        }
    }
    CU_ASSERT(rp_gen_one_seed() ||
              (n_copying > 30 && 20 * n_equal > 19 * n_plans && n_plans > 200));
}

static void a_point_that_breaks_a_rule_is_refused_with_its_name(void) {
    struct world w;
    struct rp_err err = {{0}};
    struct rp_plan plan;
    uint64_t cost_ns, seed = 1;
    while (!open_world(&w, seed, false) || !w.feasible) {
        close_world(&w);
        seed++;
    }
    double *x = rp_calloc(w.m.named.p.n_cols, sizeof *x);
    CU_ASSERT_EQUAL(rp_point_plan(&w.m, &w.o, x, &plan, &cost_ns, &err), RP_INPUT);
    CU_ASSERT(strstr(err.msg, "f.sol: row M3_read_") == err.msg);
    err.msg[0] = '\0';
    for (uint32_t j = 0; j < w.m.named.p.n_cols; j++)
        x[j] = w.m.named.p.integer[j] ? 1e-4 : -1e-4;
    CU_ASSERT_EQUAL(rp_point_plan(&w.m, &w.o, x, &plan, &cost_ns, &err), RP_INPUT);
    CU_ASSERT(strstr(err.msg, "f.sol: row ") == err.msg);
    x[0] = 0.25;
    err.msg[0] = '\0';
    CU_ASSERT_EQUAL(rp_point_plan(&w.m, &w.o, x, &plan, &cost_ns, &err), RP_INPUT);
    CU_ASSERT(strstr(err.msg, " is 0.25, not an integer") != NULL);
    x[0] = 2;
    err.msg[0] = '\0';
    CU_ASSERT_EQUAL(rp_point_plan(&w.m, &w.o, x, &plan, &cost_ns, &err), RP_INPUT);
    CU_ASSERT(strstr(err.msg, " is 2, not in [0, 1]") != NULL);
    free(x);
    close_world(&w);
}

/* ---- the graph of chain.h ---- */

static void load_chain(struct world *w) {
    *w = (struct world){.o.path = "f.sol"};
    rp_chain_load(&w->g);
}

/* The model of the graph as it is now, within `percent` of what keep-all needs. */
static void make_model(struct world *w, uint64_t percent, bool swap) {
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(&w->g, "g", &err), RP_OK);
    w->o.budget_bytes = rp_keep_all_bytes(&w->g, false) * percent / 100;
    rp_instance_init(&w->p, &w->g, w->o.budget_bytes, false, NULL);
    if (swap)
        rp_instance_allow_swap(&w->p, RP_MAX_QUANTITY);
    CU_ASSERT_EQUAL_FATAL(rp_whole_model_init(&w->m, &w->p, &err), RP_OK);
}

static void open_chain(struct world *w, uint64_t percent) {
    load_chain(w);
    make_model(w, percent, false);
}

static void write_model(const struct rp_whole_model *m, const char *path,
                        void (*write)(const struct rp_named_milp *, FILE *)) {
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    write(&m->named, f);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

static void refused(struct world *w, const struct rp_plan *plan, const char *reason) {
    double *x = rp_calloc(w->m.named.p.n_cols, sizeof *x);
    uint64_t cost_ns;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL(rp_plan_point(&w->m, plan, "p.json", x, &cost_ns, &err), RP_INPUT);
    CU_ASSERT(strstr(err.msg, "p.json: the model has no such plan (") == err.msg);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, reason));
    free(x);
}

static void plans_that_the_model_leaves_out_are_refused(void) {
    struct rp_plan plan = {0};
    struct world w;
    open_chain(&w, 100);
    rp_chain_keep_all(&w.g, &plan);
    plan.steps.at[0].id = 1;
    plan.steps.at[1].id = 0;
    refused(&w, &plan, "): its first runs do not come in the graph's order");
    rp_plan_fini(&plan);
    close_world(&w);
    open_chain(&w, 60);
    rp_chain_keep_all(&w.g, &plan);
    refused(&w, &plan, "): op 8 in stage 8 needs 1152 bytes beside the sources, more than");
    rp_plan_fini(&plan);
    close_world(&w);
}

/* The byte is far below what rows may be broken by. */
static void a_solution_that_needs_a_byte_more_is_refused(void) {
    struct rp_plan plan, none;
    struct rp_err err = {{0}};
    struct world w;
    uint64_t cost_ns;
    load_chain(&w);
    for (uint32_t x = 0; x < w.g.n_tensors; x++)
        w.g.tensors[x].bytes <<= 30;
    make_model(&w, 100, false);
    double *x = rp_calloc(w.m.named.p.n_cols, sizeof *x);
    rp_chain_keep_all(&w.g, &plan);
    CU_ASSERT_EQUAL_FATAL(rp_plan_point(&w.m, &plan, "p.json", x, &cost_ns, &err), RP_OK);
    w.p.limit_bytes--;
    CU_ASSERT_EQUAL(rp_point_plan(&w.m, &w.o, x, &none, &cost_ns, &err), RP_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "f.sol: op 8 in stage 8 needs "));
    rp_plan_fini(&plan);
    free(x);
    close_world(&w);
}

/* The rc of the plan that keeps all, with addresses, where activations of `bytes` just fit
 * without them. */
static rp_rc place_in_no_more(uint64_t bytes, struct rp_err *err) {
    struct rp_plan plan, placed;
    struct world w;
    uint64_t cost_ns;
    load_chain(&w);
    w.o.addressed = true;
    for (uint32_t x = 1; x < w.g.n_tensors; x++)
        w.g.tensors[x].bytes = bytes;
    make_model(&w, 100, false);
    double *x = rp_calloc(w.m.named.p.n_cols, sizeof *x);
    rp_chain_keep_all(&w.g, &plan);
    CU_ASSERT_EQUAL_FATAL(rp_plan_point(&w.m, &plan, "p.json", x, &cost_ns, err), RP_OK);
    rp_rc rc = rp_point_plan(&w.m, &w.o, x, &placed, &cost_ns, err);
    rp_plan_fini(&placed);
    rp_plan_fini(&plan);
    free(x);
    close_world(&w);
    return rc;
}

/* Addresses are multiples of 64. */
static void addresses_may_take_all_memory_and_no_more(void) {
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL(place_in_no_more(128, &err), RP_OK);
    CU_ASSERT_EQUAL(place_in_no_more(100, &err), RP_INPUT);
    CU_ASSERT(strstr(err.msg, "f.sol: its tensors fit, but the addresses that were found "
                              "for them take ") == err.msg);
}

/* f1 runs once, so its output would have to come back from the host. Only then may the
 * message speak of copies. */
static void a_plan_that_needs_copies_is_refused_where_there_are_none(void) {
    struct rp_step steps[18] = {{0}};
    struct rp_plan plan;
    struct world w;
    load_chain(&w);
    w.g.ops[0].recompute = false;
    make_model(&w, 100, false);
    for (uint32_t j = 0; j < 18; j++)
        steps[j].id = j < 2 ? j : j - 1;
    steps[2] = (struct rp_step){.kind = RP_FREE, .id = 1};
    for (uint32_t j = 3; j < 10; j++)
        steps[j].id = j - 1;
    steps[10] = (struct rp_step){.kind = RP_SWAP_IN, .id = 1};
    for (uint32_t j = 11; j < 18; j++)
        steps[j].id = j - 2;
    rp_chain_plan(&w.g, steps, 18, &plan);
    refused(&w, &plan, "): it needs copies that cannot begin there");
    rp_plan_fini(&plan);
    close_world(&w);
}

/* A copy takes longer than twice all ops. */
static void a_plan_that_takes_too_long_is_refused(void) {
    static const struct rp_step steps[] = {
        {RP_RUN, 0},  {RP_SWAP_OUT, 1}, {RP_RUN, 1},  {RP_RUN, 2},  {RP_RUN, 3},
        {RP_RUN, 4},  {RP_RUN, 5},      {RP_RUN, 6},  {RP_FREE, 1}, {RP_RUN, 7},
        {RP_RUN, 8},  {RP_RUN, 9},      {RP_RUN, 10}, {RP_RUN, 11}, {RP_RUN, 12},
        {RP_RUN, 13}, {RP_SWAP_IN, 1},  {RP_RUN, 14}, {RP_RUN, 15}};
    struct rp_plan plan;
    struct world w;
    load_chain(&w);
    w.g.ops[0].recompute = false;
    w.g.device.d2h_bytes_per_s = 128000000000 / (2 * w.g.total_time_ns);
    make_model(&w, 100, true);
    rp_chain_plan(&w.g, steps, sizeof steps / sizeof *steps, &plan);
    refused(&w, &plan, "): it takes more than ");
    rp_plan_fini(&plan);
    close_world(&w);
}

/* Runs glpsol in `folder` and checks both of its files. Branch and cut has proved 1210 ns.
 */
static void check_glpsol(struct world *w, const char *folder, const char *options) {
    char *command = rp_format(
        "cd '%s' && timeout 100 glpsol %s --cuts -w w.sol -o o.sol >log", folder, options);
    CU_ASSERT_EQUAL(system(command), 0);
    for (int k = 0; k < 2; k++) {
        struct rp_plan plan;
        struct rp_verdict v;
        struct rp_err err = {{0}};
        uint64_t cost_ns = 0;
        char *path = rp_format("%s/%c.sol", folder, "wo"[k]);
        w->o.path = path;
        CU_ASSERT_EQUAL(rp_solution_plan(&w->m, &w->o, &plan, &cost_ns, &err), RP_OK);
        CU_ASSERT_STRING_EQUAL(err.msg, "");
        CU_ASSERT(cost_ns == 1210 && plan.claims.time_ns == 1210);
        CU_ASSERT_EQUAL(rp_verify(&w->g, &plan, &v, &err), RP_OK);
        rp_plan_fini(&plan);
        free(path);
    }
    free(command);
}

static void glpsol_finds_the_optimum_in_both_files(void) {
    struct world w;
    char folder[] = "/tmp/remat-plan-XXXXXX";
    if (system("command -v glpsol >/dev/null") != 0) {
        const char *ci = getenv("CI");
        puts("\nskipped: there is no glpsol");
        CU_ASSERT(ci == NULL || strcmp(ci, "true") != 0);
        return;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    open_chain(&w, 60);
    char *mps = rp_format("%s/m.mps", folder), *lp = rp_format("%s/m.lp", folder);
    char *clear = rp_format("rm -r '%s'", folder);
    write_model(&w.m, mps, rp_write_mps);
    write_model(&w.m, lp, rp_write_lp);
    check_glpsol(&w, folder, "--freemps m.mps");
    check_glpsol(&w, folder, "--lp m.lp");
    CU_ASSERT_EQUAL(system(clear), 0);
    free(mps);
    free(lp);
    free(clear);
    close_world(&w);
}

/* Files of six digits say 0.99995 for 1. */
static void nearly_whole_values_are_rounded(void) {
    struct world w;
    struct rp_mip_result r;
    struct rp_plan plan;
    struct rp_err err = {{0}};
    struct rp_mip_options o = {.engine = RP_ENGINE_GLPK};
    uint64_t cost_ns = 0, seed = 1;
    for (; !open_world(&w, seed, false) || !w.feasible || w.best_ns == w.g.total_time_ns;
         seed++)
        close_world(&w);
    const struct rp_milp *m = &w.m.named.p;
    double *x = rp_calloc(m->n_cols, sizeof *x);
    CU_ASSERT_EQUAL(rp_mip_solve(m, &o, x, &r), RP_MIP_OPTIMAL);
    for (uint32_t j = 0; j < m->n_cols; j++)
        if (m->integer[j])
            x[j] += x[j] > 0.5 ? -9e-5 : 9e-5;
    CU_ASSERT_EQUAL(rp_point_plan(&w.m, &w.o, x, &plan, &cost_ns, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(err.msg, "");
    CU_ASSERT_EQUAL(cost_ns, w.best_ns);
    rp_plan_fini(&plan);
    free(x);
    close_world(&w);
}

/* f2 cannot write into a2 while a2 is there. */
static void an_op_that_runs_again_may_need_its_output_twice(void) {
    struct world w;
    char *lp;
    size_t len;
    load_chain(&w);
    w.g.ops[1].cannot_rewrite = true;
    make_model(&w, 60, false);
    FILE *f = rp_text_open(&lp, &len);
    rp_write_lp(&w.m.named, f);
    rp_text_close(f);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(lp, " rewrite_2_1: + 1 S_2_1_a2 + 1 R_2_1_f2 - 1 W_2_1 <= 1\n"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(lp, " W1_memory_2_1: + 0 R_2_1_f2 + 128 L_2_0_1 + 128 W_2_1 <= "));
    free(lp);
    close_world(&w);
}

static void a_file_that_is_missing_leaves_an_empty_plan(void) {
    struct world w;
    struct rp_err err = {{0}};
    struct rp_plan plan = {.arena_bytes = 1};
    uint64_t cost_ns;
    open_chain(&w, 80);
    w.o.path = "tests/data/solution/none.sol";
    CU_ASSERT_NOT_EQUAL(rp_solution_plan(&w.m, &w.o, &plan, &cost_ns, &err), RP_OK);
    CU_ASSERT(plan.arena_bytes == 0 && plan.steps.n == 0);
    close_world(&w);
}

void suite_whole_model(void) {
    RP_SUITE("whole_model");
    RP_TEST(without_copies_its_optimum_is_that_of_all_schedules);
    RP_TEST(with_copies_its_plans_are_valid_and_mostly_as_fast);
    RP_TEST(plans_are_points_that_cost_their_time);
    RP_TEST(plans_that_the_model_leaves_out_are_refused);
    RP_TEST(no_row_is_without_a_reason);
    RP_TEST(a_solution_that_needs_a_byte_more_is_refused);
    RP_TEST(addresses_may_take_all_memory_and_no_more);
    RP_TEST(a_plan_that_needs_copies_is_refused_where_there_are_none);
    RP_TEST(a_plan_that_takes_too_long_is_refused);
    RP_TEST(glpsol_finds_the_optimum_in_both_files);
    RP_TEST(nearly_whole_values_are_rounded);
    RP_TEST(an_op_that_runs_again_may_need_its_output_twice);
    RP_TEST(a_file_that_is_missing_leaves_an_empty_plan);
    RP_TEST(a_point_that_breaks_a_rule_is_refused_with_its_name);
}
