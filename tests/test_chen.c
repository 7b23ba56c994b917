/* chen-sqrt and chen-greedy against the rules at the top of their file. Segments have tests
 * of their own (test_segments.c). */
#include "policy/chen.h"

#include <math.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "drawn.h"
#include "gen.h"
#include "policies.h"
#include "policy/phases.h"
#include "policy/segments.h"
#include "run.h"

enum { MAX_OPS = 24 };

/* What crosses a border is held until it was last needed, and until the segment after the
 * border is recomputed. */
static bool is_held(const struct rp_segments *s, uint32_t x, uint32_t t) {
    const struct rp_instance *p = s->p;
    uint32_t last = rp_forward_last(p, s->n_forward, x), made = p->producer[x];
    for (uint32_t k = 0; k + 1 < s->cuts->n && t > made && made < s->n_forward; k++)
        if (made < s->cuts->end[k] && last >= s->cuts->end[k] &&
            ((s->backward_stage[k + 1] < p->n_ops && t <= s->backward_stage[k + 1]) ||
             t <= rp_instance_last_need(p, x)))
            return true;
    return false;
}

static void build(const struct rp_instance *p, const struct rp_cuts *cuts,
                  struct rp_schedule *to) {
    struct rp_segments s;
    rp_segments_init(p, rp_forward_ops(p), cuts, NULL, &s);
    rp_segments_base(&s, to);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = 0; t <= p->n_ops; t++)
            if (is_held(&s, x, t))
                rp_schedule_set(to, x, t, t, true);
    rp_segments_fini(&s);
}

/* The candidate nearest below the end of each of n equal shares. */
static struct rp_cuts even_cuts(const struct rp_cuts *all, uint32_t *end) {
    struct rp_cuts cuts = {end, 0};
    uint32_t n = (uint32_t)lround(sqrt(all->n)), last = 0;
    for (uint32_t i = 1; i <= all->n; i++) {
        bool ends_share = false;
        for (uint32_t k = 1; k <= n; k++)
            ends_share = ends_share || all->n * k / n == i;
        if (ends_share && all->end[i - 1] > last)
            end[cuts.n++] = last = all->end[i - 1];
    }
    return cuts;
}

/* Each segment ends with the first candidate at which its tensors take more than b. */
static struct rp_cuts cuts_by_size(const struct rp_instance *p, const struct rp_cuts *all,
                                   uint64_t b, uint32_t *end) {
    struct rp_cuts cuts = {end, 0};
    uint32_t begin = 0;
    for (uint32_t k = 0; k < all->n; k++) {
        uint64_t bytes = 0;
        for (uint32_t x = 0; x < p->n_tensors; x++)
            bytes +=
                p->producer[x] >= begin && p->producer[x] < all->end[k] ? p->bytes[x] : 0;
        if (bytes > b || k + 1 == all->n)
            end[cuts.n++] = begin = all->end[k];
    }
    return cuts;
}

static void sqrt_schedule(const struct rp_instance *p, const struct rp_cuts *all,
                          struct rp_schedule *to) {
    uint32_t end[MAX_OPS];
    struct rp_cuts cuts = even_cuts(all, end);
    build(p, &cuts, to);
}

/* The fastest of keep-all and the schedules for all b that fits; if none does, the one with
 * the lowest peak. */
static void greedy_schedule(const struct rp_instance *p, const struct rp_cuts *all,
                            struct rp_schedule *to) {
    struct rp_schedule s;
    struct rp_cost best = rp_schedule_cost(p, to);
    uint32_t end[MAX_OPS], n_forward = rp_forward_ops(p);
    double sum = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        sum += p->producer[x] < n_forward ? (double)p->bytes[x] : 0;
    rp_schedule_empty(p, &s);
    for (double b = sum / 4096; b < sum; b *= 1.125) {
        struct rp_cuts cuts = cuts_by_size(p, all, (uint64_t)b, end);
        build(p, &cuts, &s);
        struct rp_cost c = rp_schedule_cost(p, &s);
        bool fits = c.peak_bytes <= p->limit_bytes;
        bool best_fits = best.peak_bytes <= p->limit_bytes;
        bool better = fits && best_fits
                          ? c.time_ns < best.time_ns
                          : fits || (!best_fits && c.peak_bytes < best.peak_bytes);
        if (c.sound && better) {
            best = c;
            rp_schedule_copy(to, &s);
        }
    }
    rp_schedule_fini(&s);
}

static bool
is_as_by_the_rules(const struct rp_graph *g, uint64_t budget_bytes, const char *name,
                   void (*make)(const struct rp_instance *p, const struct rp_cuts *all,
                                struct rp_schedule *to)) {
    struct rp_policy_options o = rp_drawn_options(budget_bytes);
    struct rp_instance p;
    struct rp_recorder r;
    struct rp_schedule s;
    struct rp_cuts all;
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    rp_instance_init(&p, g, budget_bytes, false, NULL);
    rp_recorder_init(&r, &p);
    rp_schedule_keep_all(&p, &s);
    rp_cuts_init(&p, rp_forward_ops(&p), &all);
    make(&p, &all, &s);
    rp_recorder_schedule(&r, &s);
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_record_plan(g, rp_policy_find(name), &o, &plan, &report, &err), RP_OK);
    bool same = rp_same_steps(&plan, &r.plan);
    rp_plan_fini(&plan);
    rp_cuts_fini(&all);
    rp_schedule_fini(&s);
    rp_recorder_fini(&r);
    rp_instance_fini(&p);
    return same;
}

static uint64_t share_of_keep_all(const struct rp_graph *g, uint64_t percent) {
    struct rp_instance p;
    struct rp_schedule s;
    rp_instance_init(&p, g, UINT64_MAX / 2, false, NULL);
    rp_schedule_keep_all(&p, &s);
    uint64_t bytes = g->fixed_bytes + rp_schedule_cost(&p, &s).peak_bytes * percent / 100;
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    return bytes;
}

static void segments_are_chosen_by_the_rules(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(8 + (uint32_t)seed % (MAX_OPS - 7));
        struct rp_graph g;
        shape.training = true;
        shape.reach = 1 + (uint32_t)seed % 2; /* narrow enough to have cuts */
        shape.max_inputs = 2;
        rp_gen_graph(seed, &shape, &g);
        uint64_t budget = share_of_keep_all(&g, 50 + seed * 7 % 51);
        if (!is_as_by_the_rules(&g, budget, "chen-sqrt", sqrt_schedule) ||
            !is_as_by_the_rules(&g, budget, "chen-greedy", greedy_schedule)) {
            rp_gen_failed(seed);
            CU_FAIL("the plan is another one");
        }
        rp_graph_fini(&g);
    }
}

void suite_chen(void) {
    RP_SUITE("chen");
    RP_TEST(segments_are_chosen_by_the_rules);
}
