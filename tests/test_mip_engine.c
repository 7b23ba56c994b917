/* Tests of mixed-integer programs, on every engine that is there. */
#include "solve/engine/mip_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "engines.h"
#include "run.h"
#include "solve/engine/mip_solver.h"

#define N 12

/* ---- programs by themselves ---- */

static uint64_t two_rows(void *arg, const double *x, bool whole, struct rp_milp *rows) {
    (void)arg, (void)x, (void)whole;
    for (uint32_t i = 0; i < 2; i++) {
        rp_milp_begin_row(rows, -HUGE_VAL, i);
        rp_milp_term(rows, i, 1);
    }
    return 7;
}

static void only_broken_rows_are_taken(void) {
    struct rp_mip_options o = {.separate = two_rows};
    struct rp_milp rows = {0};
    for (int k = 0; k < 2; k++) { /* the rows of the first time are forgotten */
        CU_ASSERT_EQUAL(rp_mip_find_rows(&o, (double[]){0, 3}, true, &rows), 7);
        CU_ASSERT(rows.n_rows == 1 && rows.row_high[0] == 1 && rows.col[0] == 1);
    }
    rp_milp_fini(&rows);
}

static void values_that_are_nearly_whole_are_rounded(void) {
    struct rp_milp m = {0};
    double x[] = {1 - 1e-9, 0.25};
    rp_milp_add_col(&m, 1, 0, 1, true);
    uint32_t second = rp_milp_add_col(&m, 1, 0, 1, false);
    CU_ASSERT(rp_milp_round(&m, x, RP_MIP_TOLERANCE) && x[0] == 1 && x[1] == 0.25);
    m.integer[second] = true;
    CU_ASSERT(!rp_milp_round(&m, x, RP_MIP_TOLERANCE) && x[0] == 1 && x[1] == 0.25);
    rp_milp_fini(&m);
}

static void terms_add_up_and_rows_can_go(void) {
    static const double x[] = {1, 10, 100};
    struct rp_milp m = {0};
    for (int j = 0; j < 3; j++)
        rp_milp_add_col(&m, 1, 1, 100, true);
    rp_milp_begin_row(&m, 1, 1);
    rp_milp_term(&m, 0, 1);
    rp_milp_begin_row(&m, -HUGE_VAL, 450);
    rp_milp_term(&m, 1, 2);
    rp_milp_term(&m, 2, 4);
    rp_milp_term(&m, 1, 3);
    rp_milp_begin_row(&m, 700, HUGE_VAL);
    rp_milp_term(&m, 2, 7);
    CU_ASSERT(rp_milp_accepts(&m, x, 0)); /* all at their limits */
    rp_milp_drop_rows(&m, (bool[]){true, false, false});
    CU_ASSERT(m.n_rows == 2 && m.n_terms == 3);
    CU_ASSERT(rp_milp_left(&m, 0, x) == 450 && rp_milp_left(&m, 1, x) == 700);
    rp_milp_drop_rows(&m, (bool[]){false, true});
    CU_ASSERT(m.n_rows == 1 && m.n_terms == 2);
    rp_milp_begin_row(&m, 0, 1);
    rp_milp_term(&m, 0, 5);
    CU_ASSERT(rp_milp_left(&m, 0, x) == 450 && rp_milp_left(&m, 1, x) == 5);
    rp_milp_fini(&m);
}

/* N binary columns with costs, a continuous column that costs 1 and lifts the first row,
 * and rows that ask for at least some share of random weights. */
static void random_program(struct rp_milp *m, uint64_t seed) {
    *m = (struct rp_milp){.fixed = 5};
    for (int j = 0; j < N; j++)
        rp_milp_add_col(m, 1 + (double)rp_random_below(&seed, 30), 0, 1, true);
    uint32_t slack = rp_milp_add_col(m, 1, 0, 10, false);
    for (int i = 0; i < 5; i++) {
        rp_milp_begin_row(m, 12 + (double)rp_random_below(&seed, 12), HUGE_VAL);
        for (uint32_t j = 0; j < N; j++)
            rp_milp_term(m, j, (double)rp_random_below(&seed, 10));
        if (i == 0)
            rp_milp_term(m, slack, 1);
    }
    rp_milp_begin_row(m, -HUGE_VAL, 9); /* not too many */
    for (uint32_t j = 0; j < N; j++)
        rp_milp_term(m, j, 1);
}

/* The least cost over all points whose first N values are bits; 1e9 if there is none. */
static double brute_force(const struct rp_milp *m, double *best) {
    double least = 1e9, x[N + 1];
    for (unsigned bits = 0; bits < 1u << N; bits++) {
        x[N] = 0;
        for (int j = 0; j < N; j++)
            x[j] = bits >> j & 1;
        x[N] = fmin(fmax(m->row_low[0] - rp_milp_left(m, 0, x), 0), 10);
        if (rp_milp_accepts(m, x, 1e-9) && rp_milp_value(m, x) < least) {
            least = rp_milp_value(m, x);
            memcpy(best, x, sizeof x);
        }
    }
    return least;
}

/* What HiGHS does in one run is counted by mip_solver_highs.c as so many pivots. */
static void work_is_counted(enum rp_engine e, const struct rp_milp *m,
                            const struct rp_mip_result *r) {
    uint64_t size = (uint64_t)m->n_rows + m->n_cols;
    if (e == RP_ENGINE_HIGHS)
        CU_ASSERT_EQUAL(r->work, rp_mip_work(r->pivots + 50 * r->nodes + 2000, size));
    CU_ASSERT(r->work > 0);
}

static void solve_random(enum rp_engine e) {
    struct rp_milp m;
    struct rp_mip_result r, again;
    double best[N + 1], x[N + 1], y[N + 1];
    uint64_t pivots = 0, nodes = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        random_program(&m, seed);
        double least = brute_force(&m, best);
        struct rp_mip_options o = {.engine = e};
        CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
        CU_ASSERT_EQUAL(r.found, least < 1e9);
        if (r.found) {
            CU_ASSERT_DOUBLE_EQUAL(r.value, least, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(r.bound, least, 1e-3);
            CU_ASSERT(rp_milp_accepts(&m, x, 1e-5));
        }
        rp_mip_solve(&m, &o, y, &again);
        CU_ASSERT(memcmp(x, y, sizeof x) == 0 && again.work == r.work);
        work_is_counted(e, &m, &r);
        pivots += r.pivots;
        nodes += r.nodes;
        rp_milp_fini(&m);
    }
    CU_ASSERT(pivots > 0 && nodes > 0);
}
static void random_programs_are_solved(void) {
    rp_on_engines(solve_random);
}

/* minimise x + 2.5 y + z / 8,  x + 2 y + z >= 3.25,  x - z may be anything,  x >= 0 and y
 * whole,  y and z in [0, 1]. With all signs turned, each low bound is a high one. */
static void solve_without_bounds(enum rp_engine e) {
    static const double expected[] = {3, 0, 0.25};
    for (int sign = -1; sign <= 1; sign += 2) {
        struct rp_milp m = {0};
        struct rp_mip_result r;
        struct rp_mip_options o = {.engine = e};
        double x[3], far = sign * HUGE_VAL;
        rp_milp_add_col(&m, sign, fmin(0, far), fmax(0, far), true);
        rp_milp_add_col(&m, 2.5 * sign, fmin(0, sign), fmax(0, sign), true);
        rp_milp_add_col(&m, 0.125 * sign, fmin(0, sign), fmax(0, sign), false);
        rp_milp_begin_row(&m, fmin(3.25 * sign, far), fmax(3.25 * sign, far));
        for (uint32_t j = 0; j < 3; j++)
            rp_milp_term(&m, j, j == 1 ? 2 : 1);
        rp_milp_begin_row(&m, -HUGE_VAL, HUGE_VAL);
        rp_milp_term(&m, 0, 1);
        rp_milp_term(&m, 2, -1);
        CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
        CU_ASSERT_FATAL(r.found);
        CU_ASSERT_DOUBLE_EQUAL(r.bound, 3.03125, 1e-3);
        for (int j = 0; j < 3; j++)
            CU_ASSERT_DOUBLE_EQUAL(x[j], sign * expected[j], 1e-6);
        rp_milp_fini(&m);
    }
}
static void columns_and_rows_may_have_no_bounds(void) {
    rp_on_engines(solve_without_bounds);
}

/* It ends as soon as it may, which is before the bound is the value. */
static void ask_for_a_gap(enum rp_engine e) {
    uint32_t n_ended = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rp_milp m;
        struct rp_mip_result r, whole;
        double x[N + 1];
        random_program(&m, seed);
        struct rp_mip_options o = {.engine = e};
        rp_mip_solve(&m, &o, x, &whole);
        o.absolute_gap = 4;
        CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
        CU_ASSERT_EQUAL(r.found, whole.found);
        CU_ASSERT(!r.found || r.value <= whole.value + 4 + 1e-6);
        CU_ASSERT(!r.found || r.value - r.bound <= 4 + 1e-6);
        n_ended += r.found && r.value - r.bound > 0.5;
        rp_milp_fini(&m);
    }
    CU_ASSERT(n_ended > 0);
}
static void an_absolute_gap_ends_the_search(void) {
    rp_on_engines(ask_for_a_gap);
}

static void begin_with_the_best(enum rp_engine e) {
    struct rp_milp m;
    struct rp_mip_result r;
    double best[N + 1], x[N + 1];
    random_program(&m, 1);
    double least = brute_force(&m, best);
    struct rp_mip_options o = {.engine = e, .start = best};
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
    CU_ASSERT_FALSE(r.found);
    CU_ASSERT_DOUBLE_EQUAL(r.bound, least, 1e-3);
    o = (struct rp_mip_options){.engine = e, .cutoff = least};
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
    CU_ASSERT_FALSE(r.found);
    CU_ASSERT_DOUBLE_EQUAL(r.bound, least, 1e-3);
    o.cutoff = least + 0.5;
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
    CU_ASSERT(r.found && fabs(r.value - least) < 1e-6);
    rp_milp_fini(&m);
}
static void nothing_better_than_the_start_or_the_cutoff_is_found(void) {
    rp_on_engines(begin_with_the_best);
}

/* Rows of the whole program that are told only when they are violated. */
struct hidden {
    struct rp_milp rows;
};
static uint64_t tell_row(void *arg, const double *x, bool whole, struct rp_milp *rows) {
    const struct hidden *h = arg;
    (void)whole;
    for (uint32_t i = 0; i < h->rows.n_rows; i++) {
        if (rp_milp_violation(&h->rows, i, x) < 1e-6)
            continue;
        rp_milp_begin_row(rows, h->rows.row_low[i], h->rows.row_high[i]);
        for (uint32_t k = h->rows.start[i]; k < h->rows.start[i + 1]; k++)
            rp_milp_term(rows, h->rows.col[k], h->rows.coef[k]);
    }
    return 0;
}

static void ask_for_the_impossible(enum rp_engine e) {
    struct rp_milp m;
    struct rp_mip_result r;
    double x[N + 1];
    random_program(&m, 1);
    rp_milp_begin_row(&m, 3, 3); /* an odd number of pairs */
    for (uint32_t j = 3; j < 8; j++)
        rp_milp_term(&m, j, 2);
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &(struct rp_mip_options){.engine = e}, x, &r),
                    RP_MIP_OPTIMAL);
    CU_ASSERT(!r.found && r.bound == HUGE_VAL);
    rp_milp_begin_row(&m, 3, HUGE_VAL); /* of two that are 1 at most */
    rp_milp_term(&m, 0, 1);
    rp_milp_term(&m, 1, 1);
    struct hidden none = {{0}};
    for (int lazy = 0; lazy < 2; lazy++) {
        struct rp_mip_options o = {
            .engine = e, .separate = lazy ? tell_row : NULL, .separate_arg = &none};
        CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
        CU_ASSERT(!r.found && r.bound == HUGE_VAL);
    }
    rp_milp_fini(&m);
}
static void a_program_without_a_point_has_an_infinite_bound(void) {
    rp_on_engines(ask_for_the_impossible);
}

static void hide_rows(enum rp_engine e) {
    double best[N + 1], x[N + 1];
    uint64_t lazy = 0, nodes = 0, nodes_from_best = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct hidden h = {{0}};
        struct rp_milp m;
        struct rp_mip_result r;
        random_program(&m, seed);
        double least = brute_force(&m, best);
        struct rp_sparse_rows all = rp_milp_rows(&m);
        rp_milp_add_rows(&h.rows, &all);
        rp_milp_drop_rows(&m, (bool[]){false, true, true, true, false, true});
        struct rp_mip_options o = {.engine = e, .separate = tell_row, .separate_arg = &h};
        CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
        CU_ASSERT_EQUAL(r.found, least < 1e9);
        if (r.found)
            CU_ASSERT_DOUBLE_EQUAL(r.value, least, 1e-6);
        lazy += r.lazy_rows;
        o.start = best;
        if (least < 1e9) {
            nodes += r.nodes;
            CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
            CU_ASSERT_FALSE(r.found);
            nodes_from_best += r.nodes;
        }
        rp_milp_fini(&m);
        rp_milp_fini(&h.rows);
    }
    CU_ASSERT(lazy > 0 && nodes_from_best < nodes);
}
static void lazy_rows_are_met(void) {
    rp_on_engines(hide_rows);
}

/* One of x[2] and x[4], where x[4] costs 2e-7 more, which is less than what GLPK's raised
 * costs change. */
static void nearly_the_same(struct rp_milp *m) {
    *m = (struct rp_milp){0};
    for (uint32_t j = 0; j < 5; j++)
        rp_milp_add_col(m, 0, 0, 1, true);
    rp_milp_add_col(m, 1, 0, 10, false);
    rp_milp_begin_row(m, 1, 1);
    rp_milp_term(m, 2, 1);
    rp_milp_term(m, 4, 1);
    rp_milp_begin_row(m, 0, HUGE_VAL);
    rp_milp_term(m, 5, 1);
    rp_milp_term(m, 2, -1);
    rp_milp_term(m, 4, -1 - 2e-7);
}

/* It finds the wrong one of them, and the bound is below both, after the root's relaxation
 * too. */
static void raised_costs_are_taken_off_the_bound(void) {
    struct rp_milp m;
    struct rp_mip_result r;
    struct hidden none = {{0}};
    struct rp_mip_options o = {
        .engine = RP_ENGINE_GLPK, .separate = tell_row, .separate_arg = &none};
    double x[6];
    nearly_the_same(&m);
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
    CU_ASSERT(r.found && x[4] == 1);
    CU_ASSERT(r.bound < 1 && r.bound > 1 - 1e-5);
    o.work = 1;
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_LIMIT);
    CU_ASSERT(r.bound < 1 && r.bound > 1 - 1e-5);
    rp_milp_fini(&m);
}

/* With raised costs one is below the limit, as that is raised too. */
static void a_point_beyond_the_limit_is_no_solution(void) {
    struct rp_milp m;
    struct rp_mip_result r;
    struct hidden none = {{0}};
    struct rp_mip_options o = {.engine = RP_ENGINE_GLPK,
                               .separate = tell_row,
                               .separate_arg = &none,
                               .cutoff = 1 - 4e-7};
    double x[6];
    nearly_the_same(&m);
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
    CU_ASSERT_FALSE(r.found);
    CU_ASSERT_DOUBLE_EQUAL(r.bound, 1 - 5e-7, 1e-12); /* the limit: all was searched */
    o.cutoff = 1 + 6e-7;
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
    CU_ASSERT(r.found && r.value < o.cutoff);
    rp_milp_fini(&m);
}

/* Whenever the work ends, what has been found meets the lazy rows. */
static void limit_lazy_work(enum rp_engine e) {
    double x[N + 1];
    uint32_t n_limits = 0, n_found = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct hidden h = {{0}};
        struct rp_milp m;
        struct rp_mip_result r;
        random_program(&m, seed);
        struct rp_sparse_rows all = rp_milp_rows(&m);
        rp_milp_add_rows(&h.rows, &all);
        rp_milp_drop_rows(&m, (bool[]){true, true, true, true, true, true});
        struct rp_mip_options o = {.engine = e, .separate = tell_row, .separate_arg = &h};
        CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_OPTIMAL);
        uint64_t step = r.work / 12 + 1;
        for (o.work = 1; o.work < 14 * step; o.work += step) {
            enum rp_mip_status status = rp_mip_solve(&m, &o, x, &r);
            CU_ASSERT(status == RP_MIP_OPTIMAL || status == RP_MIP_LIMIT);
            CU_ASSERT(!r.found || rp_milp_accepts(&h.rows, x, 1e-5));
            n_limits += status == RP_MIP_LIMIT;
            n_found += r.found;
        }
        rp_milp_fini(&m);
        rp_milp_fini(&h.rows);
    }
    CU_ASSERT(n_limits > 20 && n_found > 10);
}
static void lazy_rows_are_met_at_every_limit(void) {
    rp_on_engines(limit_lazy_work);
}

/* Many knapsacks over the same columns, whose costs are nearly the same: slow to solve. */
static void slow_program(struct rp_milp *m) {
    uint64_t seed = 3;
    enum { COLS = 150, ROWS = 60 };
    *m = (struct rp_milp){.fixed = 1e4};
    for (uint32_t j = 0; j < COLS; j++)
        rp_milp_add_col(m, -100 - (double)rp_random_below(&seed, 20), 0, 1, true);
    for (uint32_t i = 0; i < ROWS; i++) {
        rp_milp_begin_row(m, -HUGE_VAL, 500);
        for (uint32_t j = 0; j < COLS; j++)
            if (rp_random_below(&seed, 3) == 0)
                rp_milp_term(m, j, 10 + (double)rp_random_below(&seed, 40));
    }
}

static void limit_the_work(enum rp_engine e) {
    struct rp_milp m;
    struct rp_mip_result r, again;
    slow_program(&m);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    struct rp_mip_options o = {.engine = e, .work = 3000};
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_LIMIT);
    rp_mip_solve(&m, &o, x, &again);
    CU_ASSERT(r.work == again.work && r.bound == again.bound && r.found == again.found);
    CU_ASSERT(r.work >= 3000);
    o.work = 1; /* not even the relaxation */
    m.fixed = -1e6;
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_LIMIT);
    CU_ASSERT(!r.found && r.bound < -1e6);
    free(x);
    rp_milp_fini(&m);
}
static void a_work_limit_ends_the_search_at_the_same_place(void) {
    rp_on_engines(limit_the_work);
}

struct listener {
    volatile sig_atomic_t stop;
    double bound; /* the last one told */
};

/* Asks for a stop once something is known. */
static void listen(void *arg, double bound) {
    struct listener *l = arg;
    l->bound = bound;
    l->stop = bound > -HUGE_VAL;
}

static void stop_it(enum rp_engine e) {
    struct rp_milp m;
    struct rp_mip_result r, some;
    struct listener l = {.stop = 1};
    struct rp_stop at_once = {&l.stop, INFINITY}, stop = at_once;
    slow_program(&m);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    struct rp_mip_options o = {.engine = e, .work = 3000};
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &some), RP_MIP_LIMIT);
    o = (struct rp_mip_options){.engine = e,
                                .work = 5000000,
                                .stop = &at_once,
                                .on_bound = listen,
                                .on_bound_arg = &l};
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_STOPPED);
    l.stop = 0;
    o.stop = &stop;
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_STOPPED);
    CU_ASSERT(!r.found && r.value == HUGE_VAL);
    CU_ASSERT(l.bound != 0 && r.bound >= l.bound && r.bound < some.value);
    free(x);
    rp_milp_fini(&m);
}
static void a_signal_ends_the_search(void) {
    rp_on_engines(stop_it);
}

static uint64_t die(void *arg, const double *x, bool whole, struct rp_milp *rows) {
    (void)arg, (void)x, (void)whole, (void)rows;
    abort();
}
static void kill_it(enum rp_engine e) {
    struct rp_milp m;
    struct rp_mip_result r;
    double x[N + 1];
    random_program(&m, 1);
    struct rp_mip_options o = {.engine = e, .separate = die};
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r), RP_MIP_FAILED);
    CU_ASSERT(!r.found && r.value == HUGE_VAL && r.work > 0);
    CU_ASSERT(r.bound > 5 && r.bound <= brute_force(&m, x)); /* of the root */
    o.cutoff = 6; /* for GLPK that is a row, and nothing meets it */
    CU_ASSERT_EQUAL(rp_mip_solve(&m, &o, x, &r),
                    e == RP_ENGINE_GLPK ? RP_MIP_OPTIMAL : RP_MIP_FAILED);
    CU_ASSERT(r.bound > 5.9 && r.bound <= 6);
    rp_milp_fini(&m);
}
static void the_death_of_its_process_is_a_failure(void) {
    rp_on_engines(kill_it);
}

void suite_mip_engine(void) {
    RP_SUITE("mip_engine");
    RP_TEST(only_broken_rows_are_taken);
    RP_TEST(values_that_are_nearly_whole_are_rounded);
    RP_TEST(terms_add_up_and_rows_can_go);
    RP_TEST(random_programs_are_solved);
    RP_TEST(columns_and_rows_may_have_no_bounds);
    RP_TEST(an_absolute_gap_ends_the_search);
    RP_TEST(nothing_better_than_the_start_or_the_cutoff_is_found);
    RP_TEST(a_program_without_a_point_has_an_infinite_bound);
    RP_TEST(lazy_rows_are_met);
    RP_TEST(lazy_rows_are_met_at_every_limit);
    RP_TEST(raised_costs_are_taken_off_the_bound);
    RP_TEST(a_point_beyond_the_limit_is_no_solution);
    RP_TEST(a_work_limit_ends_the_search_at_the_same_place);
    RP_TEST(a_signal_ends_the_search);
    RP_TEST(the_death_of_its_process_is_a_failure);
}
