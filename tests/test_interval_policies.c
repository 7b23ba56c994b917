/* libra and capuchin against the rules at the top of their files, carried out in the
 * plainest way on random graphs: the next candidate is always looked for among all. What
 * they are built on has tests of its own (test_interval_steps.c, test_interval_actions.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drawn.h"
#include "gen.h"
#include "policies.h"
#include "policy/interval_steps.h"
#include "policy/intervals.h"
#include "run.h"

enum { MAX_OPS = 16, MAX_INTERVALS = 400 };

struct naive {
    struct rp_instance p;
    struct rp_recorder r;
    struct rp_interval_actions a;
    uint32_t first_need[MAX_INTERVALS], tensor_of[MAX_INTERVALS];
    uint64_t peak_bytes[MAX_OPS];
    double key[MAX_INTERVALS]; /* the smallest first; NAN: no candidate */
};

static void naive_open(struct naive *w, const struct rp_graph *g, uint64_t budget_bytes) {
    *w = (struct naive){0};
    rp_instance_init(&w->p, g, budget_bytes, false, NULL);
    rp_recorder_init(&w->r, &w->p);
    rp_interval_actions_init(&w->p, &w->a);
    CU_ASSERT_FATAL(rp_n_intervals(&w->p) <= MAX_INTERVALS);
    for (uint32_t x = 0; x < w->p.n_tensors; x++)
        for (uint32_t e = w->p.reader_start[x]; e < w->p.reader_start[x + 1]; e++)
            w->tensor_of[e] = x;
    rp_interval_steps_record(&w->a, &w->r, w->peak_bytes);
}

static void naive_close(struct naive *w) {
    rp_interval_actions_fini(&w->a);
    rp_recorder_fini(&w->r);
    rp_instance_fini(&w->p);
}

static void record(struct naive *w) {
    rp_interval_steps_record_scheduled(&w->a, &w->r, w->first_need, w->peak_bytes);
}

static bool fits(const struct naive *w) {
    return w->r.peak_bytes <= w->p.limit_bytes;
}

static uint64_t bytes_of(const struct naive *w, uint32_t e) {
    return w->p.bytes[w->tensor_of[e]];
}

static uint32_t begin_of(const struct naive *w, uint32_t e) {
    return rp_interval_begin(&w->p, w->tensor_of[e], e);
}

static bool is_over(const struct naive *w, uint32_t e, uint32_t t) {
    return begin_of(w, e) < t && t < w->p.readers[e];
}

static bool may_be_given_up(const struct naive *w, uint32_t e, uint32_t t) {
    return is_over(w, e, t) && bytes_of(w, e) > 0 && w->a.action[e] == RP_INTERVAL_KEEP;
}

static uint64_t recompute_ns(const struct naive *w, uint32_t e) {
    return rp_recompute_ns(&w->p, &w->a, w->tensor_of[e], e);
}

/* The interval with the smallest key, whose key then becomes NAN; RP_NONE if all are. */
static uint32_t take_smallest(struct naive *w) {
    uint32_t best = RP_NONE;
    for (uint32_t e = 0; e < rp_n_intervals(&w->p); e++)
        if (!isnan(w->key[e]) && (best == RP_NONE || w->key[e] < w->key[best]))
            best = e;
    if (best != RP_NONE)
        w->key[best] = NAN;
    return best;
}

/* ---- libra ---- */

/* Swaps the largest tensor that stage t recomputes. */
static bool swaps_recomputed(struct naive *w, uint32_t t) {
    uint32_t best = RP_NONE;
    for (uint32_t e = 0; e < rp_n_intervals(&w->p); e++)
        if (w->a.action[e] == RP_INTERVAL_RECOMPUTE && w->first_need[e] == t &&
            (bytes_of(w, e) > (best == RP_NONE ? 0 : bytes_of(w, best))))
            best = e;
    if (best != RP_NONE)
        w->a.action[best] = RP_INTERVAL_SWAP;
    return best != RP_NONE;
}

/* The cost of what is given up goes to `cost`. */
static bool gives_up(struct naive *w, double *cost) {
    uint32_t t = rp_fullest_stage(&w->p, w->peak_bytes), e;
    uint64_t excess = w->peak_bytes[t] - w->p.limit_bytes, saved = 0;
    double per_byte[MAX_INTERVALS];
    if (swaps_recomputed(w, t))
        return true;
    for (e = 0; e < rp_n_intervals(&w->p); e++) {
        per_byte[e] = (double)recompute_ns(w, e) / (double)bytes_of(w, e);
        w->key[e] = may_be_given_up(w, e, t) ? per_byte[e] : NAN;
    }
    while (saved < excess && (e = take_smallest(w)) != RP_NONE) {
        w->a.action[e] =
            recompute_ns(w, e) != UINT64_MAX ? RP_INTERVAL_RECOMPUTE : RP_INTERVAL_SWAP;
        cost[e] = per_byte[e] * (double)bytes_of(w, e);
        saved += bytes_of(w, e);
    }
    return saved > 0;
}

/* Keeps again what there is room for, the most expensive first. */
static void refine(struct naive *w, const double *cost) {
    uint64_t time_ns = rp_recorder_end_ns(&w->r);
    uint32_t e;
    for (e = 0; e < rp_n_intervals(&w->p); e++)
        w->key[e] = -cost[e];
    while ((e = take_smallest(w)) != RP_NONE) {
        uint8_t was = w->a.action[e];
        w->a.action[e] = RP_INTERVAL_KEEP;
        record(w);
        if (fits(w) && rp_recorder_end_ns(&w->r) <= time_ns)
            time_ns = rp_recorder_end_ns(&w->r);
        else
            w->a.action[e] = was;
    }
    record(w);
}

static void libra(struct naive *w) {
    double cost[MAX_INTERVALS];
    bool fitted = fits(w);
    for (uint32_t e = 0; e < MAX_INTERVALS; e++)
        cost[e] = NAN;
    while (!fits(w) && gives_up(w, cost))
        record(w);
    if (!fitted && fits(w))
        refine(w, cost);
}

/* ---- capuchin ---- */

static double start_of(const struct naive *w, uint32_t stage) {
    double ns = 0;
    for (uint32_t i = 0; i < stage; i++)
        ns += (double)w->p.time_ns[i];
    return ns;
}

/* When the copies out over stage t are done, begun in the order of the intervals, and when
 * the copies in begin if they end in time: those of all swaps, and that of interval e. */
static double slack(const struct naive *w, uint32_t e, uint32_t t) {
    double out = 0, in = start_of(w, w->p.n_ops);
    for (uint32_t i = 0; i < t; i++)
        for (uint32_t f = 0; f < rp_n_intervals(&w->p); f++)
            if ((f == e || w->a.action[f] == RP_INTERVAL_SWAP) && is_over(w, f, t) &&
                begin_of(w, f) == i)
                out = fmax(out, start_of(w, i + 1)) +
                      (double)rp_swap_out_ns(&w->p, w->tensor_of[f]);
    for (uint32_t i = w->p.n_ops; i-- > t;)
        for (uint32_t f = 0; f < rp_n_intervals(&w->p); f++)
            if ((f == e || w->a.action[f] == RP_INTERVAL_SWAP) && is_over(w, f, t) &&
                w->p.readers[f] == i)
                in = fmin(in, start_of(w, i)) -
                     (double)rp_swap_in_ns(&w->p, w->tensor_of[f]);
    return fmin(start_of(w, t) - out, in - start_of(w, t + 1));
}

static double free_time(const struct naive *w, uint32_t e, uint32_t t) {
    double own = start_of(w, w->p.readers[e]) - start_of(w, begin_of(w, e) + 1) -
                 (double)rp_swap_out_ns(&w->p, w->tensor_of[e]) -
                 (double)rp_swap_in_ns(&w->p, w->tensor_of[e]);
    double left = slack(w, e, t);
    return left < 0 ? fmin(own, left) : own;
}

static bool saves(struct naive *w) {
    uint32_t t = rp_fullest_stage(&w->p, w->peak_bytes), e;
    uint64_t excess = w->peak_bytes[t] - w->p.limit_bytes, saved = 0;
    bool swap[MAX_INTERVALS], is_free[MAX_INTERVALS];
    for (e = 0; e < rp_n_intervals(&w->p); e++) {
        uint64_t ns = recompute_ns(w, e);
        double recompute = ns == UINT64_MAX ? INFINITY : (double)ns;
        double ft = free_time(w, e, t);
        is_free[e] = ft >= 0;
        swap[e] = is_free[e] || -ft < recompute;
        w->key[e] = is_free[e] ? -ft : fmin(-ft, recompute) / (double)bytes_of(w, e);
        if (!may_be_given_up(w, e, t))
            w->key[e] = NAN;
    }
    while (saved < excess && (e = take_smallest(w)) != RP_NONE) {
        if (is_free[e] && saved > 0 && free_time(w, e, t) < 0)
            continue;
        w->a.action[e] = swap[e] ? RP_INTERVAL_SWAP : RP_INTERVAL_RECOMPUTE;
        saved += bytes_of(w, e);
    }
    return saved > 0;
}

static void capuchin(struct naive *w) {
    while (!fits(w) && saves(w))
        record(w);
}

/* ---- the comparison ---- */

/* The plan for a share of what keep-all needs. */
static bool is_as_by_the_rules(const struct rp_graph *g, uint64_t percent, const char *name,
                               void (*carry_out)(struct naive *w)) {
    struct naive w;
    struct rp_policy_options o = rp_drawn_options(UINT64_MAX / 2);
    struct rp_policy_report report;
    struct rp_plan plan;
    struct rp_err err = {{0}};
    naive_open(&w, g, o.budget_bytes);
    o.budget_bytes = g->fixed_bytes + w.r.peak_bytes * percent / 100;
    naive_close(&w);
    naive_open(&w, g, o.budget_bytes);
    carry_out(&w);
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_record_plan(g, rp_policy_find(name), &o, &plan, &report, &err), RP_OK);
    bool same = rp_same_steps(&plan, &w.r.plan);
    rp_plan_fini(&plan);
    naive_close(&w);
    return same;
}

static void policies_follow_their_rules(void) {
    uint32_t n = 300;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(6 + (uint32_t)seed % (MAX_OPS - 5));
        struct rp_graph g;
        uint64_t percent = 40 + seed * 7 % 61;
        shape.training = true;
        shape.max_outputs = 1 + seed % 2;
        rp_gen_graph(seed, &shape, &g);
        /* A copy takes from a tenth of an op to ten ops. */
        g.device.h2d_bytes_per_s = g.device.d2h_bytes_per_s = UINT64_C(5000000000)
                                                              << seed % 7;
        if (!is_as_by_the_rules(&g, percent, "libra", libra) ||
            !is_as_by_the_rules(&g, percent, "capuchin", capuchin)) {
            rp_gen_failed(seed);
            CU_FAIL("the plan is another one");
        }
        rp_graph_fini(&g);
    }
}

void suite_interval_policies(void) {
    RP_SUITE("interval_policies");
    RP_TEST(policies_follow_their_rules);
}
