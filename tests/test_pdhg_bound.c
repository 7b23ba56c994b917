#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brute.h"
#include "gen.h"
#include "run.h"
#include "solve/bound/pdhg_bound.h"
#include "solve/bound/safe_dual.h"
#include "solve/lp/sep_memory.h"
#include "sums.h"
#include "tight_instance.h"

#define WORK 3000000

/* Bound (7) computed from the rows in long double. */
static long double simple_bound(const struct rp_formulation *f,
                                const struct rp_row_set *rows, const int64_t *m,
                                unsigned scale_log2) {
    const struct rp_instance *p = f->instance;
    long double *price = calloc(f->n_cols + 1, sizeof *price), sum = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        sum += (long double)p->time_ns[j];
    for (uint32_t j = 0; j < f->n_run_cols; j++)
        price[j] = (long double)p->time_ns[f->col_id[j]];
    for (uint32_t i = 0; i < rows->n; i++) {
        long double unit = rows->name[i].kind == RP_ROW_MEM ? 1 / f->byte_scale : 1;
        long double y = ldexpl((long double)m[i], -(int)scale_log2);
        sum -= y * rows->rhs[i] * unit;
        for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            price[rows->col[k]] += y * rows->coef[k] * unit;
    }
    for (uint32_t j = 0; j < f->n_cols; j++)
        sum += fminl(0, price[j]);
    free(price);
    return sum;
}

static bool proof_is_right(const struct rp_pdhg_bound *b) {
    unsigned scale_log2;
    const struct rp_row_set *rows = rp_pdhg_bound_rows(b);
    const int64_t *m = rp_pdhg_bound_multipliers(b, &scale_log2);
    double bound = (double)rp_pdhg_bound_ns(b);
    long double simple = simple_bound(rp_pdhg_bound_formulation(b), rows, m, scale_log2);
    double tolerance = 1e-9 * bound + 1e-6;
    for (uint32_t i = 0; i < rows->n; i++)
        if (m[i] < 0)
            return false;
    return bound >= simple - tolerance && bound <= ceill(simple) + tolerance &&
           fabs(rp_pdhg_bound_estimate(b) - (double)simple) <= 1e-6 * bound + 1e-6;
}

/* The sum over all graphs of the gap between the trivial bound and the optimum, and how
 * much of it the bounds close. */
static uint64_t gap_ns, closed_ns;
static struct rp_pdhg_statistics all_statistics;

static bool check_one_graph(uint64_t seed) {
    struct rp_graph g;
    struct rp_instance p;
    uint64_t best;
    rp_tight_instance(seed, &g, &p);
    bool good = rp_brute_best(&g, p.limit_bytes, &best);
    struct rp_pdhg_bound *b = rp_pdhg_bound_new(&p, 0);
    while (good && rp_pdhg_bound_run(b, WORK / 10, NULL))
        good = rp_pdhg_bound_ns(b) <= best;
    good = good && rp_pdhg_bound_ns(b) <= best && rp_pdhg_bound_ns(b) >= g.total_time_ns &&
           proof_is_right(b);
    gap_ns += best - g.total_time_ns;
    closed_ns += rp_pdhg_bound_ns(b) - g.total_time_ns;
    struct rp_pdhg_statistics s = rp_pdhg_bound_statistics(b);
    rp_pdhg_statistics_add(&all_statistics, &s);
    rp_pdhg_bound_free(b);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return good;
}

static void no_bound_is_above_the_optimum(void) {
    uint32_t n = 150;
    uint64_t seed = rp_gen_seed(1, &n);
    gap_ns = closed_ns = 0;
    all_statistics = (struct rp_pdhg_statistics){0};
    for (; n > 0; n--, seed++)
        if (!check_one_graph(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a bound is above the optimum, or its proof is not");
            return;
        }
    CU_ASSERT(rp_gen_one_seed() || closed_ns * 10 > gap_ns * 9);
    CU_ASSERT(rp_gen_one_seed() ||
              (all_statistics.cover_rows > 0 && all_statistics.path_rows > 0));
    CU_ASSERT_EQUAL(all_statistics.horizon_updates, 0);
}

/* With any multipliers, rounded or not, the bound stays below the optimum. */
static bool check_one_dual(uint64_t seed) {
    struct rp_rng r = {seed};
    struct rp_graph g;
    struct rp_instance p;
    struct rp_formulation f;
    struct rp_sep_memory memory;
    struct rp_row_set rows = {0};
    uint64_t best, bound = 0;
    unsigned log2;
    rp_tight_instance(seed, &g, &p);
    rp_formulation_init(&f, &p, &(struct rp_formulation_options){0});
    rp_sep_memory_init(&memory, &f, false);
    rp_formulation_rows(&f, &rows);
    for (uint32_t t = 0; t < p.n_ops; t++)
        rp_sep_memory_row(&memory, t, (uint32_t)rp_rng_below(&r, t + 1), NULL, &rows);
    double *y = calloc(rows.n + 1, sizeof *y);
    int64_t *m = calloc(rows.n + 1, sizeof *m);
    for (uint32_t i = 0; i < rows.n; i++)
        y[i] = (double)rp_rng_below(&r, 1000) / 3000;
    rp_safe_dual_round(&f, &rows, y, m, &log2);
    bool good = rp_brute_best(&g, p.limit_bytes, &best) &&
                rp_safe_dual_bound(&f, &rows, m, log2, &bound) && bound <= best;
    long double simple = simple_bound(&f, &rows, m, log2);
    good = good && fabsl((long double)bound - fmaxl(0, ceill(simple))) <= 1;
    if (rows.n > 0) {
        m[rows.n - 1] = -1;
        good = good && !rp_safe_dual_bound(&f, &rows, m, log2, &bound);
    }
    free(y);
    free(m);
    rp_row_set_fini(&rows);
    rp_sep_memory_fini(&memory);
    rp_formulation_fini(&f);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return good;
}

static void any_multipliers_give_a_valid_bound(void) {
    uint32_t n = 150;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++)
        if (!check_one_dual(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("multipliers give more than the optimum");
            return;
        }
}

/* One op of 100 ns that may run again once, and a row  a R <= -1  with this multiplier. */
struct one_row {
    struct rp_instance p;
    struct rp_formulation f;
    struct rp_row_set rows;
    uint64_t time_ns;
    uint32_t zero[2], one;
};

static void init_one_row(struct one_row *o, double a) {
    static const struct rp_row_name name = {.kind = RP_ROW_DEP};
    *o = (struct one_row){.time_ns = 100, .one = 1};
    o->p = (struct rp_instance){.n_ops = 1, .time_ns = &o->time_ns};
    o->f = (struct rp_formulation){.instance = &o->p,
                                   .n_stages = 2,
                                   .n_cols = 1,
                                   .n_run_cols = 1,
                                   .copy_time_col = 1,
                                   .stage_of = o->zero,
                                   .r_last = &o->one,
                                   .r_start = o->zero,
                                   .r_col = o->zero,
                                   .col_id = o->zero,
                                   .byte_scale = 1,
                                   .time_scale = 1};
    rp_row_set_begin(&o->rows, name, -1);
    rp_row_set_term(&o->rows, 0, a);
}

static void multipliers_are_as_fine_as_the_largest_one_allows(void) {
    static const struct {
        double y;
        unsigned log2;
        int64_t m;
    } cases[] = {{0.5, 40, (int64_t)1 << 39},
                 {0x1p20, 40, (int64_t)1 << 60},
                 {0x1p30, 31, (int64_t)1 << 61},
                 {0x1p70, 0, 0},
                 {-1, 40, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct one_row o;
        unsigned log2;
        int64_t m;
        init_one_row(&o, -1);
        rp_safe_dual_round(&o.f, &o.rows, &cases[k].y, &m, &log2);
        CU_ASSERT_EQUAL(log2, cases[k].log2);
        CU_ASSERT_EQUAL(m, cases[k].m);
        rp_row_set_fini(&o.rows);
    }
}

/* R >= 1 at 100 ns each: another run. Beyond 2^53 a double may stand for another integer.
 */
static void only_exact_integers_prove_a_bound(void) {
    static const struct {
        double a;
        int64_t m;
        bool proved;
        uint64_t bound_ns;
    } cases[] = {{-1, 0, true, 100},    {-1, 60, true, 160},     {-1, 100, true, 200},
                 {-1, 150, true, 200},  {-0x1.8p52, 1, true, 0}, {-0x1p53, 1, false, 0},
                 {-0.5, 100, false, 0}, {-1, -1, false, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct one_row o;
        uint64_t bound_ns = 0;
        init_one_row(&o, cases[k].a);
        CU_ASSERT_EQUAL(rp_safe_dual_bound(&o.f, &o.rows, &cases[k].m, 0, &bound_ns),
                        cases[k].proved);
        CU_ASSERT_EQUAL(bound_ns, cases[k].bound_ns);
        rp_row_set_fini(&o.rows);
    }
}

/* What is known of that other run below the cutoff. */
static uint8_t known_below(uint64_t cutoff_ns, double a, int64_t m) {
    struct one_row o;
    uint64_t bound_ns;
    uint8_t known = 7;
    init_one_row(&o, a);
    bool fits = rp_safe_dual_fix(&o.f, &o.rows, &m, 0, cutoff_ns, &bound_ns, &known);
    rp_row_set_fini(&o.rows);
    return fits ? known : 7;
}

/* Without multipliers the run costs 100 ns beside the 100 of the first. At 150 ns for R >=
 * 1, (7) is 200 ns, and not to run again costs 50 more. */
static void a_column_is_fixed_if_its_other_value_reaches_the_cutoff(void) {
    CU_ASSERT_EQUAL(known_below(200, -1, 0), 0);
    CU_ASSERT_EQUAL(known_below(201, -1, 0), RP_UNDECIDED);
    CU_ASSERT_EQUAL(known_below(250, -1, 150), 1);
    CU_ASSERT_EQUAL(known_below(251, -1, 150), RP_UNDECIDED);
    CU_ASSERT_EQUAL(known_below(200, -0.5, 150), 7); /* no integers */
}

static struct rp_pdhg_bound *bound_at(const struct rp_instance *p, uint64_t pieces) {
    struct rp_pdhg_bound *b = rp_pdhg_bound_new(p, 0);
    for (uint64_t i = 0; i < pieces; i++)
        rp_pdhg_bound_run(b, 60000000 / pieces, NULL);
    return b;
}

/* Eight forward and eight backward ops, all tensors of the same size. At the floor some ops
 * must run again. */
static void train_chain(struct rp_graph *g) {
    struct rp_gen_shape shape = {.n_ops = 16,
                                 .n_sources = 1,
                                 .max_inputs = 2,
                                 .max_outputs = 1,
                                 .max_bytes = 900,
                                 .max_time_ns = 100000,
                                 .alignment_bytes = 1,
                                 .training = true};
    rp_gen_graph(4, &shape, g);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        g->tensors[x].bytes = 900;
}

static void less_memory_never_lowers_the_bound(void) {
    struct rp_graph g;
    struct rp_instance p;
    uint64_t before = UINT64_MAX, lowest = 0;
    train_chain(&g);
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    uint64_t floor_bytes = rp_instance_floor(&p, &(uint32_t){0});
    for (uint32_t i = 0; i < 6; i++) {
        p.limit_bytes = floor_bytes + i * 900;
        struct rp_pdhg_bound *b = bound_at(&p, 1);
        CU_ASSERT(rp_pdhg_bound_ns(b) <= before + before / 10000);
        before = rp_pdhg_bound_ns(b);
        lowest = i == 0 ? before : lowest;
        rp_pdhg_bound_free(b);
    }
    CU_ASSERT(lowest > g.total_time_ns + g.total_time_ns / 50);
    CU_ASSERT_EQUAL(before, g.total_time_ns);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

static void the_same_calls_give_the_same_proof(void) {
    struct rp_graph g;
    struct rp_instance p;
    unsigned scale_a, scale_b;
    train_chain(&g);
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    p.limit_bytes = rp_instance_floor(&p, &(uint32_t){0});
    struct rp_pdhg_bound *a = bound_at(&p, 3), *b = bound_at(&p, 3);
    const int64_t *m = rp_pdhg_bound_multipliers(a, &scale_a),
                  *n = rp_pdhg_bound_multipliers(b, &scale_b);
    CU_ASSERT_EQUAL(rp_pdhg_bound_ns(a), rp_pdhg_bound_ns(b));
    CU_ASSERT_EQUAL(scale_a, scale_b);
    CU_ASSERT(rp_pdhg_bound_rows(a)->n > 0);
    CU_ASSERT_EQUAL_FATAL(rp_pdhg_bound_rows(a)->n, rp_pdhg_bound_rows(b)->n);
    CU_ASSERT_EQUAL(memcmp(m, n, rp_pdhg_bound_rows(a)->n * sizeof *m), 0);
    double *v = rp_pdhg_bound_point(a), *u = rp_pdhg_bound_point(b);
    CU_ASSERT_EQUAL(memcmp(v, u, rp_pdhg_bound_formulation(a)->n_cols * sizeof *v), 0);
    free(v);
    free(u);
    rp_pdhg_bound_free(a);
    rp_pdhg_bound_free(b);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

static void a_stop_or_a_deadline_ends_the_run_at_once(void) {
    struct rp_graph g;
    struct rp_instance p;
    volatile sig_atomic_t flag = 1;
    struct rp_stop interrupted = {&flag, INFINITY}, late = {.deadline = 0};
    train_chain(&g);
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    p.limit_bytes = rp_instance_floor(&p, &(uint32_t){0});
    struct rp_pdhg_bound *b = rp_pdhg_bound_new(&p, 0);
    CU_ASSERT(rp_pdhg_bound_run(b, UINT64_MAX, &interrupted));
    CU_ASSERT(rp_pdhg_bound_run(b, UINT64_MAX, &late));
    CU_ASSERT_EQUAL(rp_pdhg_bound_ns(b), g.total_time_ns);
    CU_ASSERT_EQUAL(rp_pdhg_bound_rows(b)->n, 0);
    rp_pdhg_bound_free(b);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* The work intervals in pdhg_bound.c relate the counters to each other. */
static void statistics_count_what_pdhg_does(void) {
    struct rp_graph g;
    struct rp_instance p;
    train_chain(&g);
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    p.limit_bytes = rp_instance_floor(&p, &(uint32_t){0});
    struct rp_pdhg_bound *b = bound_at(&p, 3);
    struct rp_pdhg_statistics s = rp_pdhg_bound_statistics(b);
    CU_ASSERT(s.iterations > 1000 && s.work > 2 * s.iterations);
    CU_ASSERT_EQUAL(s.dual_evaluations, s.iterations / 50);
    CU_ASSERT_EQUAL(s.separations, s.iterations / 250);
    CU_ASSERT(s.restarts > 0 && s.restarts < s.iterations);
    CU_ASSERT(s.memory_rows >= g.n_ops && s.path_rows > 0);
    CU_ASSERT(s.dropped_rows > 0 &&
              s.dropped_rows <= s.memory_rows + s.cover_rows + s.path_rows);
    CU_ASSERT(s.proofs > 0 && s.horizon_updates == 0);
    rp_pdhg_bound_free(b);
    RP_ADDS_EVERY_MEMBER(rp_pdhg_statistics);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* Doubles hold every sum of bytes exactly below 2^52. Beyond, the bound stays the sum of
 * all times. */
static void sums_of_bytes_beyond_doubles_prove_nothing(void) {
    for (int k = 0; k < 4; k++) {
        struct rp_graph g;
        struct rp_instance p;
        train_chain(&g);
        rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
        memset(p.bytes, 0, p.n_tensors * sizeof *p.bytes);
        *(k == 0   ? &p.limit_bytes
          : k == 1 ? &p.bytes[0]
                   : &p.workspace_bytes[0]) = ((uint64_t)1 << 52) - (k == 3);
        struct rp_pdhg_bound *b = rp_pdhg_bound_new(&p, 0);
        CU_ASSERT_EQUAL(rp_pdhg_bound_formulation(b) != NULL, k == 3);
        CU_ASSERT_EQUAL(rp_pdhg_bound_ns(b), g.total_time_ns);
        CU_ASSERT_EQUAL(rp_pdhg_bound_estimate(b), g.total_time_ns);
        rp_pdhg_bound_free(b);
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
}

/* ---- the same steps every time ---- */

struct steps {
    uint64_t bound_ns, horizon_ns, estimate_ns, rows, more;
    struct rp_pdhg_statistics s;
};

/* In three runs. With swaps, a plan of twice the time of all ops is found after the second.
 */
static struct steps take_steps(uint64_t bandwidth, uint32_t max_stages, uint32_t n_ops) {
    bool swap = bandwidth > 0;
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    struct rp_graph g;
    struct rp_instance p;
    unsigned scale_log2;
    shape.training = shape.bandwidths = true;
    shape.max_outputs = 1;
    rp_gen_graph(11, &shape, &g);
    g.device.h2d_bytes_per_s = g.device.d2h_bytes_per_s = bandwidth;
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    if (swap)
        rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    p.limit_bytes = rp_instance_floor(&p, &(uint32_t){0});
    uint64_t total_ns = g.total_time_ns;
    struct rp_formulation_options o = {.horizon_ns = swap ? total_ns * 4 : 0,
                                       .copy_times = swap,
                                       .max_stages = max_stages};
    struct rp_pdhg_bound *b = rp_pdhg_bound_new_with(&p, &o);
    rp_pdhg_bound_run(b, 4000000, NULL);
    rp_pdhg_bound_run(b, 2000000, NULL);
    if (swap)
        rp_pdhg_bound_tighten(b, total_ns * 2);
    bool more = rp_pdhg_bound_run(b, 2000000, NULL);
    CU_ASSERT(proof_is_right(b) || swap);
    rp_pdhg_bound_multipliers(b, &scale_log2);
    struct steps steps = {rp_pdhg_bound_ns(b),
                          rp_pdhg_bound_horizon_ns(b),
                          (uint64_t)rp_pdhg_bound_estimate(b),
                          rp_pdhg_bound_rows(b)->n + ((uint64_t)scale_log2 << 32),
                          more,
                          rp_pdhg_bound_statistics(b)};
    rp_pdhg_bound_free(b);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return steps;
}

/* Where a plan is said to take a nanosecond more than all ops, no later horizon is above
 * it.
 */
static void no_bound_is_above_the_plan_that_was_found(void) {
    struct rp_gen_shape shape = rp_gen_small(14);
    struct rp_graph g;
    struct rp_instance p;
    shape.training = shape.bandwidths = true;
    shape.max_outputs = 1;
    rp_gen_graph(11, &shape, &g);
    g.device.h2d_bytes_per_s = g.device.d2h_bytes_per_s = 10000000000;
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&p, RP_MAX_QUANTITY));
    p.limit_bytes = rp_instance_floor(&p, &(uint32_t){0});
    struct rp_pdhg_bound *b = rp_pdhg_bound_new(&p, g.total_time_ns * 4);
    rp_pdhg_bound_tighten(b, g.total_time_ns + 1);
    rp_pdhg_bound_run(b, 4000000, NULL);
    CU_ASSERT_EQUAL(rp_pdhg_bound_ns(b), g.total_time_ns + 1);
    CU_ASSERT_EQUAL(rp_pdhg_bound_statistics(b).horizon_updates, 1);
    rp_pdhg_bound_free(b);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

static bool takes_steps(struct steps is, const struct steps *expected) {
    const uint64_t *numbers = (const uint64_t *)(const void *)&is;
    bool same = memcmp(&is, expected, sizeof is) == 0;
    for (size_t k = 0; k < sizeof is / sizeof *numbers && !same; k++)
        printf("%" PRIu64 ", ", numbers[k]);
    return same;
}

/* A change of the method that is meant changes these figures. */
static void the_same_method_takes_the_same_steps(void) {
    static const struct steps expected[] = {
        {1086,
         0,
         1085,
         171798691896,
         1,
         {8492, 62, 33, 20, 6, 8, 0, 24, 169, 1, 0, 0, 0, 0, 0, 0, 8000313}},
        {996,
         0,
         996,
         171798691866,
         0,
         {10250, 1098, 41, 9, 1, 0, 0, 7, 205, 1, 0, 0, 0, 0, 0, 0, 4177795}},
        {952,
         952,
         952,
         171798691889,
         1,
         {6874, 1312, 27, 17, 4, 12, 38, 38, 137, 6, 3, 0, 0, 0, 0, 0, 8000000}},
        {742,
         742,
         742,
         171798691870,
         1,
         {19133, 1337, 76, 8, 2, 2, 17, 16, 382, 14, 8, 0, 0, 0, 0, 0, 8000147}}};
    CU_ASSERT(takes_steps(take_steps(0, 0, 16), &expected[0]));
    CU_ASSERT(takes_steps(take_steps(0, 7, 16), &expected[1]));
    CU_ASSERT(takes_steps(take_steps(10000000000, 0, 14), &expected[2]));
    CU_ASSERT(takes_steps(take_steps(50000000000, 6, 14), &expected[3]));
}

void suite_pdhg_bound(void) {
    RP_SUITE("pdhg_bound");
    RP_TEST(no_bound_is_above_the_optimum);
    RP_TEST(any_multipliers_give_a_valid_bound);
    RP_TEST(multipliers_are_as_fine_as_the_largest_one_allows);
    RP_TEST(only_exact_integers_prove_a_bound);
    RP_TEST(a_column_is_fixed_if_its_other_value_reaches_the_cutoff);
    RP_TEST(sums_of_bytes_beyond_doubles_prove_nothing);
    RP_TEST(no_bound_is_above_the_plan_that_was_found);
    RP_TEST(the_same_method_takes_the_same_steps);
    RP_TEST(less_memory_never_lowers_the_bound);
    RP_TEST(the_same_calls_give_the_same_proof);
    RP_TEST(a_stop_or_a_deadline_ends_the_run_at_once);
    RP_TEST(statistics_count_what_pdhg_does);
}
