/* What actions cost and when their copies begin, against interval_actions.h. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "gen.h"
#include "policy/interval_actions.h"
#include "policy/intervals.h"
#include "policy/recorder.h"
#include "run.h"

enum { MAX_OPS = 14, MAX_INTERVALS = 400 };

/* Marks the ops that run if x is made again at the end of stage t. */
static void mark_closure(const struct rp_instance *p, const struct rp_interval_actions *a,
                         uint32_t x, uint32_t t, bool *runs) {
    uint32_t j = p->producer[x];
    if (runs[j])
        return;
    runs[j] = true;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        uint32_t y = p->inputs[k], e = p->reader_start[y];
        while (e < p->reader_start[y + 1] && p->readers[e] < t)
            e++;
        bool is_there =
            e < p->reader_start[y + 1] ? a->action[e] != RP_INTERVAL_RECOMPUTE : p->kept[y];
        if (!is_there && !p->irreplaceable[y])
            mark_closure(p, a, y, t, runs);
    }
}

static uint64_t recompute_ns(const struct rp_instance *p,
                             const struct rp_interval_actions *a, uint32_t x, uint32_t e) {
    bool runs[MAX_OPS] = {false};
    uint64_t sum = 0;
    if (p->irreplaceable[x])
        return UINT64_MAX;
    mark_closure(p, a, x, p->readers[e], runs);
    for (uint32_t j = 0; j < p->n_ops; j++)
        sum += runs[j] ? p->time_ns[j] : 0;
    return sum;
}

/* Places the copies backwards: of what is left, the one that is needed last ends when it is
 * needed, or when the next one begins. */
static void place_copies(const struct rp_instance *p, const struct rp_interval_actions *a,
                         const uint32_t *first_need, uint32_t *trigger) {
    bool placed[MAX_INTERVALS] = {false};
    int64_t start[MAX_OPS + 1] = {0}, next;
    for (uint32_t i = 0; i < p->n_ops; i++)
        start[i + 1] = start[i] + (int64_t)p->time_ns[i];
    next = start[p->n_ops];
    memcpy(trigger, a->trigger, rp_n_intervals(p) * sizeof *trigger);
    for (;;) {
        uint32_t last = RP_NONE, of = 0, t = 0;
        for (uint32_t x = 0; x < p->n_tensors; x++)
            for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
                if (a->action[e] == RP_INTERVAL_SWAP && !placed[e] &&
                    (last == RP_NONE || first_need[e] >= first_need[last])) {
                    last = e;
                    of = x;
                }
        if (last == RP_NONE)
            return;
        placed[last] = true;
        next = start[first_need[last]] < next ? start[first_need[last]] : next;
        next -= (int64_t)rp_swap_in_ns(p, of);
        for (uint32_t i = 1; i < p->n_ops; i++)
            t = start[i] <= (next > 0 ? next : 0) ? i : t;
        /* It cannot be out before the second stage of the interval. */
        t = rp_max_u32(t, rp_interval_begin(p, of, last) + 2);
        trigger[last] = rp_min_u32(t, first_need[last]);
    }
}

static bool one_case(const struct rp_graph *g, uint64_t seed) {
    struct rp_rng random = {seed};
    struct rp_instance p;
    struct rp_interval_actions a;
    uint32_t first_need[MAX_INTERVALS], trigger[MAX_INTERVALS];
    bool same = true;
    rp_instance_init(&p, g, UINT64_MAX / 2, false, NULL);
    memset(&a, 1, sizeof a);
    rp_interval_actions_init(&p, &a);
    CU_ASSERT_FALSE(a.wait_for_swap_out);
    CU_ASSERT_FATAL(rp_n_intervals(&p) <= MAX_INTERVALS);
    CU_ASSERT_EQUAL(memcmp(a.trigger, p.readers, rp_n_intervals(&p) * sizeof *a.trigger),
                    0);
    for (uint32_t x = 0; x < p.n_tensors; x++)
        for (uint32_t e = p.reader_start[x]; e < p.reader_start[x + 1]; e++) {
            uint32_t begin = rp_interval_begin(&p, x, e);
            a.action[e] = (uint8_t)rp_rng_below(&random, 3);
            first_need[e] =
                begin + 1 + (uint32_t)rp_rng_below(&random, p.readers[e] - begin);
        }
    for (uint32_t x = 0; x < p.n_tensors; x++)
        for (uint32_t e = p.reader_start[x]; e < p.reader_start[x + 1]; e++)
            same = same && rp_recompute_ns(&p, &a, x, e) == recompute_ns(&p, &a, x, e);
    place_copies(&p, &a, first_need, trigger);
    rp_interval_actions_schedule_swap_ins(&p, &a, first_need);
    same = same && memcmp(a.trigger, trigger, rp_n_intervals(&p) * sizeof *trigger) == 0;
    rp_interval_actions_fini(&a);
    rp_instance_fini(&p);
    return same;
}

static void costs_and_triggers_follow_the_rules(void) {
    uint32_t n = 500;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)seed % (MAX_OPS - 3));
        struct rp_graph g;
        shape.training = seed % 4 != 0;
        rp_gen_graph(seed, &shape, &g);
        /* A copy takes about as long as an op. */
        g.device.h2d_bytes_per_s = g.device.d2h_bytes_per_s = 50000000000u;
        if (!one_case(&g, seed)) {
            rp_gen_failed(seed);
            CU_FAIL("another cost or trigger");
        }
        rp_graph_fini(&g);
    }
}

/* A closure of 512 runs is the longest that counts. */
static void a_long_closure_is_not_worth_it(void) {
    struct rp_gen_shape shape = {.n_ops = 520,
                                 .n_sources = 0,
                                 .max_inputs = 1,
                                 .max_outputs = 1,
                                 .reach = 1,
                                 .max_bytes = 10,
                                 .max_time_ns = 10,
                                 .alignment_bytes = 1};
    struct rp_graph g;
    struct rp_instance p;
    struct rp_interval_actions a;
    rp_gen_graph(1, &shape, &g);
    rp_instance_init(&p, &g, UINT64_MAX / 2, false, NULL);
    rp_interval_actions_init(&p, &a);
    memset(a.action, RP_INTERVAL_RECOMPUTE, rp_n_intervals(&p));
    CU_ASSERT_EQUAL_FATAL(rp_n_intervals(&p), 519); /* a chain */
    CU_ASSERT_NOT_EQUAL(rp_recompute_ns(&p, &a, 511, 511), UINT64_MAX);
    CU_ASSERT_EQUAL(rp_recompute_ns(&p, &a, 512, 512), UINT64_MAX);
    rp_interval_actions_fini(&a);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

void suite_interval_actions(void) {
    RP_SUITE("interval_actions");
    RP_TEST(costs_and_triggers_follow_the_rules);
    RP_TEST(a_long_closure_is_not_worth_it);
}
