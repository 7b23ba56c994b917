/* Tests of the bound for plans that swap. Random plans must satisfy all rows and be no
 * faster than the bound. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "brute_copies.h"
#include "gen.h"
#include "run.h"
#include "solve/bound/certificate_writer.h"
#include "solve/bound/pdhg_bound.h"
#include "solve/bound/sep_copy.h"
#include "solve/lp/sep_memory.h"
#include "solve/lp/swap_relaxation.h"
#include "solve/solver.h"
#include "verify/certificate/certificate_claim.h"
#include "verify/verifier.h"

#define MAX_OPS 24 /* ops, and tensors */

/* The state while a plan is replayed by the rules of docs/formats.md. */
struct replay {
    const struct rp_graph *g;
    const struct rp_plan *p;
    uint64_t clock_ns, d2h_ns, h2d_ns;
    uint64_t ready_ns[MAX_OPS],
        out_ns[MAX_OPS]; /* out_ns: when the host copy is complete */
    bool on_device[MAX_OPS];
    uint32_t stage, last_run;
    uint32_t first_run[MAX_OPS];     /* per op: the step of its first run */
    uint64_t begin_ns[MAX_OPS + 1];  /* per stage */
    bool run[MAX_OPS][MAX_OPS];      /* stage, op */
    bool in_order[MAX_OPS];          /* the stage's runs are in order, none twice */
    bool here[MAX_OPS + 1][MAX_OPS]; /* stage, tensor: on the device or the host */
    bool on_host[MAX_OPS];
    bool late; /* something runs after the last first run */
};

static uint64_t copy_ns(const struct rp_graph *g, uint32_t x, uint64_t bytes_per_s) {
    uint64_t ns = g->tensors[x].bytes * 1000000000u; /* small sizes */
    return g->device.copy_latency_ns + ns / bytes_per_s + (ns % bytes_per_s != 0);
}

static void begin_stage(struct replay *l, uint32_t t) {
    l->stage = t;
    l->last_run = RP_NONE;
    l->begin_ns[t] = l->clock_ns;
    l->in_order[t] = t < l->g->n_ops;
    for (uint32_t x = 0; x < l->g->n_tensors; x++)
        l->here[t][x] = l->on_device[x] || l->on_host[x];
}

static void do_run(struct replay *l, uint32_t step, uint32_t j) {
    const struct rp_op *op = &l->g->ops[j];
    for (uint32_t k = 0; k < op->n_inputs; k++)
        l->clock_ns = rp_max_u64(l->clock_ns, l->ready_ns[op->inputs[k]]);
    l->clock_ns += op->time_ns;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        l->ready_ns[op->outputs[k]] = l->clock_ns;
        l->on_device[op->outputs[k]] = true;
    }
    if (l->stage == l->g->n_ops) {
        l->late = true;
        return;
    }
    l->run[l->stage][j] = true;
    l->in_order[l->stage] &= l->last_run == RP_NONE || j > l->last_run;
    l->last_run = j;
    if (j == l->stage) {
        l->first_run[j] = step;
        begin_stage(l, j + 1);
    }
}

static void do_copy(struct replay *l, uint32_t x, bool out) {
    const struct rp_device *d = &l->g->device;
    uint64_t *queue = out ? &l->d2h_ns : &l->h2d_ns;
    uint64_t since = rp_max_u64(l->clock_ns, out ? l->ready_ns[x] : l->out_ns[x]);
    *queue = rp_max_u64(*queue, since) +
             copy_ns(l->g, x, out ? d->d2h_bytes_per_s : d->h2d_bytes_per_s);
    (out ? l->out_ns : l->ready_ns)[x] = *queue;
    (out ? l->on_host : l->on_device)[x] = true;
}

static void replay_plan(struct replay *l, const struct rp_graph *g,
                        const struct rp_plan *p) {
    *l = (struct replay){.g = g, .p = p};
    begin_stage(l, 0);
    for (uint32_t s = 0; s < p->steps.n; s++) {
        uint32_t id = p->steps.at[s].id;
        switch (p->steps.at[s].kind) {
        case RP_RUN:
            do_run(l, s, id);
            break;
        case RP_FREE:
            l->clock_ns = rp_max_u64(l->clock_ns, l->on_host[id] ? l->out_ns[id] : 0);
            l->on_device[id] = false;
            break;
        default:
            do_copy(l, id, p->steps.at[s].kind == RP_SWAP_OUT);
        }
    }
}

static uint64_t end_ns(const struct replay *l) {
    return rp_max_u64(l->clock_ns, rp_max_u64(l->d2h_ns, l->h2d_ns));
}

static bool has(const uint32_t *list, uint32_t n, uint32_t x) {
    for (uint32_t k = 0; k < n; k++)
        if (list[k] == x)
            return true;
    return false;
}

/* The value of S[t][x]: x is on the device or the host, and is read (or kept) before it is
 * made again. */
static bool held(const struct replay *l, uint32_t t, uint32_t x) {
    if (t == 0 || !l->here[t][x])
        return false;
    for (uint32_t s = l->first_run[t - 1] + 1; s < l->p->steps.n; s++) {
        const struct rp_op *op = &l->g->ops[l->p->steps.at[s].id];
        if (l->p->steps.at[s].kind != RP_RUN)
            continue;
        if (has(op->inputs, op->n_inputs, x))
            return true;
        if (has(op->outputs, op->n_outputs, x))
            return false;
    }
    return l->g->kept[x];
}

/* ---- the R and S of a plan ---- */

/* Returns false if the plan contains useless runs, which the rows do not cover. */
static bool fill_runs(const struct rp_formulation *f, const struct replay *l, double *v) {
    for (uint32_t t = 0; t < l->g->n_ops; t++)
        for (uint32_t j = 0; j <= t; j++) {
            uint32_t col = rp_formulation_run(f, t, j);
            if (col == RP_COL_ZERO && l->run[t][j])
                return false;
            if (col < f->n_cols)
                v[col] = l->run[t][j];
        }
    return true;
}

/* Returns false if a value differs from one that the formulation fixes. */
static bool fill_held(const struct rp_formulation *f, const struct replay *l, double *v) {
    const struct rp_instance *p = f->instance;
    bool good = true;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = 1; t <= p->n_ops && p->bytes[x] > 0; t++) {
            uint32_t col = rp_formulation_held(f, t, x);
            double value = held(l, t, p->tensor_of[x]);
            if (col < f->n_cols && f->col_t[col] == t)
                v[col] = value;
            if (rp_formulation_value(v, col) != value)
                good = false;
        }
    return good;
}

/* E, and W. */
static void fill_copy_times(const struct rp_formulation *f, const struct replay *l,
                            double *v) {
    for (uint32_t t = 0; t < l->g->n_ops; t++) {
        double extra_ns =
            (double)(l->begin_ns[t + 1] - l->begin_ns[t]) - (double)l->g->ops[t].time_ns;
        double wait_ns = extra_ns;
        for (uint32_t j = 0; j < t; j++)
            wait_ns -= l->run[t][j] ? (double)l->g->ops[j].time_ns : 0;
        v[rp_formulation_extra(f, t)] = extra_ns / (double)f->slack_ns;
        v[rp_formulation_wait(f, t)] = wait_ns / (double)f->slack_ns;
    }
}

/* ---- the check ---- */

static bool rows_hold(const struct rp_row_set *rows, const double *v) {
    for (uint32_t i = 0; i < rows->n; i++)
        if (rp_row_set_left(rows, i, v) > rows->rhs[i] + 1e-6) {
            const struct rp_row_name *n = &rows->name[i];
            printf("row kind %d t %u op %d x %d from %u: %g > %g\n", (int)n->kind, n->t,
                   (int)n->op, (int)n->x, n->from, rp_row_set_left(rows, i, v),
                   rows->rhs[i]);
            return false;
        }
    return true;
}

static bool memory_holds(const struct rp_formulation *f, const struct replay *l,
                         const double *v) {
    struct rp_sep_memory m;
    struct rp_row_set rows = {0};
    double over[MAX_OPS];
    bool good = true;
    rp_sep_memory_init(&m, f, false);
    for (uint32_t t = 0; t < l->g->n_ops && good; t++) {
        rp_sep_memory_sweep(&m, t, v, over);
        for (uint32_t k = l->in_order[t] ? 0 : t; k <= t && good; k++) {
            uint32_t i = rows.n;
            rp_sep_memory_row(&m, t, k, v, &rows);
            good = over[k] <= 1e-6 &&
                   fabs(rp_row_set_left(&rows, i, v) - rows.rhs[i] - over[k]) <= 1e-6;
            if (!good)
                printf("mem t %u k %u over %g row %g\n", t, k, over[k],
                       rp_row_set_left(&rows, i, v) - rows.rhs[i]);
        }
    }
    good = good && rows_hold(&rows, v);
    rp_row_set_fini(&rows);
    rp_sep_memory_fini(&m);
    return good;
}

static uint64_t n_swapping, n_above, n_horizon_updates, n_copy_rows, n_tight;

/* Do the rows (8) hold at v, and those of (9) to (11) that points near it violate? These
 * points have less time for copies, and hold more or fractions. */
static bool copies_hold(const struct rp_formulation *f, uint64_t seed, const double *v) {
    struct rp_rng r = {seed};
    struct rp_sep_copy c;
    struct rp_row_set rows = {0};
    double *point = rp_calloc(f->n_cols, sizeof *point);
    rp_sep_copy_init(&c, f);
    rp_sep_copy_stages(f, &rows);
    for (uint32_t k = 0; k < 40; k++) {
        uint32_t less = (uint32_t)rp_rng_below(&r, 100), more = k % 2 * 10;
        uint32_t part = k % 4 / 2 * 40;
        for (uint32_t j = 0; j < f->n_cols; j++)
            if (rp_rng_percent(&r, part))
                point[j] = (double)rp_rng_below(&r, 10) / 9;
            else if (j < f->copy_time_col)
                point[j] = rp_rng_percent(&r, more) ? 1 : v[j];
            else
                point[j] = rp_rng_percent(&r, less) ? 0 : v[j];
        uint32_t before = rows.n;
        n_copy_rows += rp_sep_copy_find(&c, point, &rows);
        for (uint32_t i = before; i < rows.n; i++)
            n_tight += rp_row_set_left(&rows, i, v) > rows.rhs[i] - 1e-6;
    }
    bool good = rows_hold(&rows, v);
    rp_sep_copy_fini(&c);
    rp_row_set_fini(&rows);
    free(point);
    return good;
}

static bool meets_all(const struct rp_instance *p, const struct replay *l, uint64_t seed) {
    struct rp_formulation f;
    struct rp_row_set rows = {0};
    struct rp_formulation_options o = {.horizon_ns = end_ns(l), .copy_times = true};
    rp_formulation_init(&f, p, &o);
    double *v = rp_calloc(f.n_cols, sizeof *v);
    bool inside = fill_runs(&f, l, v), good = true;
    if (inside) {
        fill_copy_times(&f, l, v);
        rp_formulation_rows(&f, &rows);
        good = fill_held(&f, l, v) && rows_hold(&rows, v) && memory_holds(&f, l, v) &&
               copies_hold(&f, seed, v);
        n_swapping += l->h2d_ns > 0;
    }
    free(v);
    rp_row_set_fini(&rows);
    rp_formulation_fini(&f);
    return good;
}

/* The checker evaluates the same bound, and accepts it for this plan. */
static bool is_certified(const struct rp_instance *p, const struct rp_pdhg_bound *b,
                         struct rp_plan *plan) {
    char path[] = "/tmp/remat-plan-test-XXXXXX";
    struct rp_certificate c;
    struct rp_certified_bound s = {0};
    struct rp_err err = {{0}};
    unsigned log2;
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    const int64_t *m = rp_pdhg_bound_multipliers(b, &log2);
    plan->claims.lower_bound_ns =
        p->graph->total_time_ns; /* the runs of a stage may be in any order */
    bool good = rp_certificate_save(path, p->graph, rp_pdhg_bound_formulation(b), false,
                                    plan->budget_bytes, rp_pdhg_bound_rows(b), m, log2,
                                    rp_pdhg_bound_horizon_ns(b), &err) == RP_OK &&
                rp_certificate_load(path, &c, &err) == RP_OK;
    unlink(path);
    if (!good)
        return false;
    if (rp_pdhg_bound_horizon_ns(b) > 0 || plan->host_bytes == 0)
        good = rp_certificate_check_plan(&c, p->graph, plan, &s, &err) == RP_OK;
    else
        good = rp_certificate_check(&c, p->graph, &s, &err) == RP_OK;
    good = good && s.bound_ns == rp_pdhg_bound_ns(b);
    rp_certificate_fini(&c);
    return good;
}

static bool bound_holds(const struct rp_instance *p, struct rp_plan *plan,
                        const struct rp_formulation_options *o) {
    struct rp_pdhg_bound *b = rp_pdhg_bound_new_with(p, o);
    uint64_t time_ns = plan->claims.time_ns;
    bool good = true;
    for (int k = 0; k < 8 && good; k++) {
        rp_pdhg_bound_run(b, 20000, NULL);
        good = rp_pdhg_bound_ns(b) <= time_ns;
        if (k == 4)
            rp_pdhg_bound_tighten(b, time_ns);
    }
    good = good && is_certified(p, b, plan);
    n_above += rp_pdhg_bound_ns(b) > p->graph->total_time_ns;
    n_horizon_updates += rp_pdhg_bound_statistics(b).horizon_updates;
    rp_pdhg_bound_free(b);
    return good;
}

static bool check_one_plan(uint64_t seed) {
    struct rp_rng r = {seed};
    struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)rp_rng_below(&r, 8));
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_instance p;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    static struct replay l;
    shape.training = rp_rng_percent(&r, 50);
    shape.once_percent = rp_rng_percent(&r, 30) ? 15 : 0;
    rp_gen_graph(seed, &shape, &g);
    /* Copies take between a tenth of a run and ten runs. */
    g.device.h2d_bytes_per_s = 1000000000u * (1 + rp_rng_below(&r, 500));
    g.device.d2h_bytes_per_s = 1000000000u * (1 + rp_rng_below(&r, 500));
    rp_gen_plan(seed, &g, false, &plan);
    replay_plan(&l, &g, &plan);
    rp_instance_init(&p, &g, plan.budget_bytes, false, NULL);
    bool good =
        rp_instance_allow_swap(&p, rp_rng_percent(&r, 50) ? UINT64_MAX : plan.host_bytes);
    rp_verify(&g, &plan, &v, &err);
    plan.claims.time_ns = v.time_ns;
    struct rp_formulation_options o = {.horizon_ns =
                                           v.time_ns + rp_rng_below(&r, v.time_ns / 2 + 2),
                                       .max_stages = (uint32_t)rp_rng_below(&r, g.n_ops)};
    if (good && !l.late) {
        good = v.time_ns == end_ns(&l) && meets_all(&p, &l, seed) &&
               bound_holds(&p, &plan, &o);
        o.copy_times = true;
        good = good && bound_holds(&p, &plan, &o);
    }
    rp_instance_fini(&p);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
    return good;
}

static void rows_and_bounds_hold_for_every_plan(void) {
    uint32_t n = 1200;
    uint64_t seed = rp_gen_seed(1, &n);
    n_swapping = n_above = n_horizon_updates = n_copy_rows = n_tight = 0;
    for (; n > 0; n--, seed++)
        if (!check_one_plan(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a row is not true");
            return;
        }
    CU_ASSERT(rp_gen_one_seed() ||
              (n_swapping > 50 && n_above > 2 && n_horizon_updates > 100 &&
               n_copy_rows > 100 && n_tight > 10));
}

/* A training step of tensors of one size, copies of which take about as long as an op. So
 * memory and queues are often full to the last byte and nanosecond. */
static void gen_full(uint64_t seed, struct rp_graph *g) {
    struct rp_rng r = {seed};
    struct rp_gen_shape shape = rp_gen_small(12 + (uint32_t)rp_rng_below(&r, 9));
    shape.max_outputs = 1;
    shape.training = true;
    shape.n_sources = 0;
    rp_gen_graph(seed, &shape, g);
    g->total_time_ns = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        g->tensors[x].bytes = 1000;
    for (uint32_t j = 0; j < g->n_ops; j++) {
        g->ops[j].workspace_bytes = 0;
        g->ops[j].time_ns = 100 * (1 + rp_rng_below(&r, 3));
        g->total_time_ns += g->ops[j].time_ns;
    }
    g->device.copy_latency_ns = 0;
    g->device.h2d_bytes_per_s = 10000000000u / (1 + rp_rng_below(&r, 3));
    g->device.d2h_bytes_per_s = 10000000000u / (1 + rp_rng_below(&r, 3));
}

/* A plan that the planner finds near the floor meets all rows. */
static bool check_found_plan(uint64_t seed) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_instance p;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    static struct replay l;
    uint32_t op;
    bool good = true;
    gen_full(seed, &g);
    rp_instance_init(&p, &g, 0, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    p.limit_bytes = rp_instance_floor(&p, &op) + seed % 3 * 1000;
    struct rp_solve_options o = {.budget_bytes = p.limit_bytes,
                                 .recompute = seed % 4 == 0,
                                 .swap = true,
                                 .host_bytes = RP_MAX_QUANTITY,
                                 .time_limit = 0.02,
                                 .ignore_clock = true,
                                 .seed = 1};
    if (rp_solve(&g, &o, &plan, &report, &err) == RP_OK) {
        replay_plan(&l, &g, &plan);
        good = l.late || meets_all(&p, &l, seed);
        rp_plan_fini(&plan);
    }
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return good;
}

static void rows_hold_for_plans_that_are_found(void) {
    uint32_t n = 60;
    uint64_t seed = rp_gen_seed(1, &n);
    n_swapping = n_copy_rows = n_tight = 0;
    for (; n > 0; n--, seed++)
        if (!check_found_plan(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a row is not true");
            return;
        }
    CU_ASSERT(rp_gen_one_seed() ||
              (n_swapping > 20 && n_copy_rows > 1000 && n_tight > 100));
}

/* Where one op has a workspace of a petabyte, the room beside others would take longer to
 * copy than a number of ns can say. Keep-all fits, so no bound is above its time. */
static void a_huge_room_is_no_limit(void) {
    uint32_t n = 20;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++) {
        struct rp_graph g;
        struct rp_instance p;
        gen_full(seed, &g);
        g.device.h2d_bytes_per_s = g.device.d2h_bytes_per_s = 1 + seed % 3;
        g.ops[g.n_ops / 2].workspace_bytes = UINT64_C(1) << 50;
        rp_instance_init(&p, &g, 0, false, NULL);
        rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
        int64_t *used = rp_instance_bytes_in_use(&p);
        for (uint32_t j = 0; j < g.n_ops; j++)
            p.limit_bytes = rp_max_u64(p.limit_bytes, (uint64_t)used[j]);
        struct rp_pdhg_bound *b = rp_pdhg_bound_new(&p, 2 * g.total_time_ns);
        rp_pdhg_bound_run(b, 3000000, NULL);
        CU_ASSERT_EQUAL(rp_pdhg_bound_statistics(b).copy_rows, 0);
        CU_ASSERT_EQUAL(rp_pdhg_bound_ns(b), g.total_time_ns);
        rp_pdhg_bound_free(b);
        free(used);
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
}

/* Compares the bound with brute force over all step sequences: it is valid, and often
 * tight. */
static void no_bound_is_above_the_optimum(void) {
    uint32_t n = 100, found = 0, reached = 0;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(5);
        struct rp_graph g;
        struct rp_instance p;
        uint64_t best;
        uint32_t op;
        shape.max_outputs = 1;
        shape.training = seed % 3 != 0;
        shape.rules_percent = seed % 2 * 15;
        rp_gen_graph(seed, &shape, &g);
        g.device.h2d_bytes_per_s = 1000000000u * (1 + seed * 37 % 200);
        g.device.d2h_bytes_per_s = 1000000000u * (1 + seed * 53 % 200);
        rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
        rp_instance_allow_swap(&p, UINT64_MAX);
        p.limit_bytes = rp_instance_floor(&p, &op) + seed % 3 * 700;
        struct rp_brute_copies o = {.limit_bytes = p.limit_bytes,
                                    .host_limit_bytes = RP_MAX_QUANTITY,
                                    .recompute = true,
                                    .swap = true,
                                    .max_states = 200000};
        if (rp_brute_copies_best(&g, &o, &best) == RP_BRUTE_FOUND) {
            struct rp_pdhg_bound *b = rp_pdhg_bound_new(&p, best + seed % 2 * best / 4);
            rp_pdhg_bound_run(b, 300000, NULL);
            found++;
            reached += rp_pdhg_bound_ns(b) == best;
            if (rp_pdhg_bound_ns(b) > best) {
                rp_gen_failed(seed);
                CU_FAIL("a bound is above the best plan");
            }
            rp_pdhg_bound_free(b);
        }
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
    CU_ASSERT(rp_gen_one_seed() || (found > 20 && 2 * reached > found));
}

/* ---- the largest offload ---- */

/* The copies of one tensor. */
struct copy {
    uint64_t bytes, out_ns, in_ns, made_ns, due_ns;
};

/* Is there an order in which these copies can follow each other? A swap-out begins once the
 * tensor is made and ends by end_ns. Swap-ins begin at now_ns, and each ends when it is
 * due. */
static bool some_order(const struct copy *c, uint32_t n, uint32_t left, bool out,
                       uint64_t now_ns, uint64_t end_ns) {
    if (left == 0)
        return true;
    for (uint32_t i = 0; i < n; i++) {
        if (!(left >> i & 1))
            continue;
        uint64_t done =
            out ? rp_max_u64(now_ns, c[i].made_ns) + c[i].out_ns : now_ns + c[i].in_ns;
        if (done <= (out ? end_ns : c[i].due_ns) &&
            some_order(c, n, left & ~(1u << i), out, done, end_ns))
            return true;
    }
    return false;
}

/* The bytes that the tensor with the best rate would copy in `ns`, at most `cap`. */
static uint64_t at_best_rate(const struct rp_instance *p, const uint64_t *copy_ns,
                             uint64_t ns, uint64_t cap) {
    uint64_t best = 0;
    for (uint32_t x = 0; x < p->n_tensors && ns > 0; x++)
        best = rp_max_u64(best, p->bytes[x] == 0  ? 0
                                : copy_ns[x] == 0 ? cap
                                                  : p->bytes[x] * ns / copy_ns[x]);
    return best < cap ? best : cap;
}

/* The size of the largest set of tensors that can be on the host alone while op t runs
 * (`same`; tensors that t reads are left out) or while another op of its stage runs. */
static uint64_t max_of_all_sets(const struct rp_instance *p, const uint32_t *last_use,
                                uint64_t horizon_ns, uint32_t t, bool same) {
    struct copy c[MAX_OPS];
    uint32_t n = 0;
    uint64_t begin = 0, end = horizon_ns, best = 0;
    for (uint32_t j = 0; j < t + same; j++)
        begin += p->time_ns[j];
    for (uint32_t j = t; j < p->n_ops; j++)
        end -= p->time_ns[j];
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        bool read = false;
        if (p->producer[x] >= t || last_use[x] < t + same)
            continue;
        for (uint32_t k = p->input_start[t]; k < p->input_start[t + 1]; k++)
            read |= p->inputs[k] == x;
        if (read && same)
            continue;
        c[n] = (struct copy){p->bytes[x], p->out_ns[x], p->in_ns[x], 0, horizon_ns};
        for (uint32_t j = 0; j <= p->producer[x]; j++)
            c[n].made_ns += p->time_ns[j];
        for (uint32_t j = last_use[x]; j < p->n_ops; j++)
            c[n].due_ns -= p->time_ns[j];
        n++;
    }
    for (uint32_t set = 0; set < 1u << n; set++) {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < n; i++)
            bytes += set >> i & 1 ? c[i].bytes : 0;
        if (bytes > best && some_order(c, n, set, true, 0, end) &&
            some_order(c, n, set, false, begin, 0))
            best = bytes;
    }
    return best;
}

static uint64_t min_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    a = a < b ? a : b;
    c = c < d ? c : d;
    return a < c ? a : c;
}

static bool limits_agree(uint64_t seed, uint32_t *n_held_up) {
    struct rp_rng r = {seed};
    struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)rp_rng_below(&r, 4));
    struct rp_graph g;
    struct rp_instance p;
    uint64_t limits[2 * MAX_OPS];
    uint32_t last_use[MAX_OPS];
    bool good = true;
    shape.training = rp_rng_percent(&r, 50);
    shape.n_sources = 0; /* so that the instance's lists end exactly */
    shape.max_outputs = 1;
    rp_gen_graph(seed, &shape, &g);
    g.device.h2d_bytes_per_s = 1000000000u * (1 + rp_rng_below(&r, 100));
    g.device.d2h_bytes_per_s = 1000000000u * (1 + rp_rng_below(&r, 100));
    rp_instance_init(&p, &g, 1000, false, NULL);
    rp_instance_allow_swap(&p, rp_rng_percent(&r, 70) ? UINT64_MAX : 1500);
    uint64_t all_ns = g.total_time_ns, cap = 0;
    uint64_t horizon_ns = rp_rng_percent(&r, 20) ? rp_rng_below(&r, all_ns + 1)
                                                 : all_ns + rp_rng_below(&r, all_ns + 1);
    for (uint32_t x = 0; x < p.n_tensors; x++) {
        last_use[x] = rp_instance_last_need(&p, x);
        cap += p.bytes[x];
        if (rp_rng_percent(&r, 10))
            (rp_rng_percent(&r, 50) ? p.out_ns : p.in_ns)[x] = 0;
    }
    cap = cap < p.host_limit_bytes ? cap : p.host_limit_bytes;
    rp_swap_relaxation_limits(&p, last_use, horizon_ns, limits);
    horizon_ns = rp_max_u64(horizon_ns, all_ns);
    uint64_t before = 0;
    for (uint32_t t = 0; t < p.n_ops && good; t++) {
        uint64_t after = before + p.time_ns[t];
        uint64_t out = at_best_rate(&p, p.out_ns, horizon_ns - (all_ns - before), cap);
        for (int same = 0; same < 2; same++) {
            uint64_t in =
                at_best_rate(&p, p.in_ns, horizon_ns - (same ? after : before), cap);
            uint64_t sets = max_of_all_sets(&p, last_use, horizon_ns, t, same);
            uint64_t offloaded = min_of(out, in, cap, sets);
            good = good && limits[same ? t : p.n_ops + t] == 1000 + offloaded;
            *n_held_up += offloaded > 0 && offloaded == sets && sets < out && sets < in;
        }
        before = after;
    }
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return good;
}

static void the_largest_offload_agrees_with_brute_force(void) {
    uint32_t n = 400, held_up = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!limits_agree(seed, &held_up)) {
            rp_gen_failed(seed);
            CU_FAIL("not the bytes of the largest set that can be offloaded");
        }
    CU_ASSERT(held_up > 20 || rp_gen_one_seed());
}

void suite_swap_relaxation(void) {
    RP_SUITE("swap_relaxation");
    RP_TEST(the_largest_offload_agrees_with_brute_force);
    RP_TEST(rows_hold_for_plans_that_are_found);
    RP_TEST(a_huge_room_is_no_limit);
    RP_TEST(no_bound_is_above_the_optimum);
    RP_TEST(rows_and_bounds_hold_for_every_plan);
}
