/* Tests of solve/core/schedule.h and prune.h on random graphs. */
#include "solve/core/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gen.h"
#include "run.h"
#include "solve/core/prune.h"

struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
};

/* Keep-all of a graph whose sources may live on the host. */
static void task_init(struct task *k, uint64_t seed) {
    rp_gen_host_graph(seed, 4 + (uint32_t)(seed % 6), &k->g);
    rp_instance_init_homes(&k->p, &k->g, RP_MAX_QUANTITY, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&k->p, RP_MAX_QUANTITY));
    rp_schedule_keep_all(&k->p, &k->s);
}

static void task_fini(struct task *k) {
    rp_schedule_fini(&k->s);
    rp_instance_fini(&k->p);
    rp_graph_fini(&k->g);
}

static void keep_all_is_sound_and_runs_nothing_again(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_stage_work w;
        struct task k;
        task_init(&k, seed);
        rp_stage_work_init(&k.p, &w);
        bool right = rp_schedule_cost(&k.p, &k.s).sound;
        for (uint32_t t = 0; t < k.p.n_ops && right; t++)
            right = rp_stage_eval(&k.p, &k.s, t, &w) && w.stage.n_runs == 1;
        if (!right) {
            rp_gen_failed(seed);
            CU_FAIL("keep-all is not sound, or an op runs again");
        }
        rp_stage_work_fini(&w);
        task_fini(&k);
    }
}

static void a_stage_without_bytes_peaks_at_its_own_op(void) {
    struct rp_gen_shape shape = rp_gen_small(8);
    struct rp_stage_work w;
    struct task k;
    shape.max_bytes = 0;
    rp_gen_graph(1, &shape, &k.g);
    rp_instance_init(&k.p, &k.g, 0, false, NULL);
    rp_schedule_keep_all(&k.p, &k.s);
    rp_stage_work_init(&k.p, &w);
    for (uint32_t t = 0; t < k.p.n_ops; t++) {
        CU_ASSERT(rp_stage_eval(&k.p, &k.s, t, &w));
        CU_ASSERT(w.stage.peak_bytes == 0 && w.stage.peak_op == t);
    }
    rp_stage_work_fini(&w);
    task_fini(&k);
}

/* ---- pruning ---- */

/* Holds x in some rows, or not; or swaps it in there. Undone if that is not sound. */
static void change_at_random(struct task *k, struct rp_rng *r, struct rp_schedule *before) {
    uint32_t x = (uint32_t)rp_rng_below(r, k->p.n_tensors);
    uint32_t a = (uint32_t)rp_rng_below(r, k->p.n_ops), b = a;
    b += (uint32_t)rp_rng_below(r, k->p.n_ops - a) + 1;
    rp_schedule_copy(before, &k->s);
    rp_schedule_set(&k->s, x, a + 1, b, rp_rng_percent(r, 50));
    if (rp_rng_percent(r, 50)) {
        rp_schedule_set(&k->s, x, a, a, false);
        rp_schedule_set_in(&k->s, x, a, true);
    }
    if (!rp_schedule_cost(&k->p, &k->s).sound)
        rp_schedule_copy(&k->s, before);
}

static bool is_read(const struct rp_instance *p, const struct rp_stage *stage, uint32_t x) {
    for (uint32_t a = 0; a < stage->n_runs; a++)
        for (uint32_t k = p->input_start[stage->runs[a]];
             k < p->input_start[stage->runs[a] + 1]; k++)
            if (p->inputs[k] == x)
                return true;
    return false;
}

/* Each hold of a tensor that is neither copied nor a version ends where it is read, or
 * kept. */
static bool holds_are_of_use(const struct task *k, const uint64_t *may_be_copied) {
    const struct rp_instance *p = &k->p;
    struct rp_stage_work w;
    bool right = true;
    rp_stage_work_init(p, &w);
    for (uint32_t t = 0; t <= p->n_ops && right; t++) {
        right = t == p->n_ops || rp_stage_eval(p, &k->s, t, &w);
        for (uint32_t x = 0; x < p->n_tensors && right; x++)
            if (rp_held(&k->s, t, x) && !rp_is_version(p, x) &&
                !(may_be_copied[x / 64] >> (x % 64) & 1))
                right = t == p->n_ops ? p->kept[x]
                                      : rp_held(&k->s, t + 1, x) || is_read(p, &w.stage, x);
    }
    rp_stage_work_fini(&w);
    return right;
}

/* In rare cases a tensor that was swapped in for nothing is then freed before its copy has
 * ended, which is not sound. */
static bool pruning_costs_nothing(struct task *k, uint32_t *n_fewer_ins,
                                  uint32_t *n_unsound) {
    struct rp_cost before = rp_schedule_cost(&k->p, &k->s);
    uint64_t *swapped = rp_schedule_swapped(&k->s), *now;
    bool right = rp_schedule_prune(&k->p, &k->s);
    struct rp_cost after = rp_schedule_cost(&k->p, &k->s);
    right = right && (!after.sound || after.time_ns <= before.time_ns) &&
            after.peak_bytes <= before.peak_bytes &&
            after.host_bytes <= before.host_bytes && holds_are_of_use(k, swapped);
    *n_unsound += !after.sound;
    now = rp_schedule_swapped(&k->s);
    *n_fewer_ins += memcmp(now, swapped, k->s.words * sizeof *now) != 0;
    free(now);
    free(swapped);
    return right;
}

static void a_pruned_schedule_costs_no_more_and_holds_nothing_in_vain(void) {
    uint32_t n = 1000, n_fewer_ins = 0, n_unsound = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_rng r = {seed};
        struct rp_schedule before;
        struct task k;
        task_init(&k, seed);
        rp_schedule_empty(&k.p, &before);
        for (int i = 0; i < 150 && k.p.n_tensors > 0; i++)
            change_at_random(&k, &r, &before);
        if (!pruning_costs_nothing(&k, &n_fewer_ins, &n_unsound)) {
            rp_gen_failed(seed);
            CU_FAIL("pruning costs something, or leaves holds without a use");
        }
        rp_schedule_fini(&before);
        task_fini(&k);
    }
    CU_ASSERT((n_fewer_ins > 5 && n_unsound < 10) || rp_gen_one_seed());
}

/* Stretches of zeros, of others and of both, onto zeros and onto others. */
static void words_are_copied_and_cleared(void) {
    enum { N = 3000 };
    static uint64_t from[N], to[N], zeros[N];
    struct rp_rng r = {7};
    for (uint32_t round = 0; round < 200; round++) {
        size_t n = rp_rng_below(&r, N + 1), first = rp_rng_below(&r, N);
        size_t last = first + rp_rng_below(&r, N - first);
        memset(from, 0, sizeof from);
        for (size_t i = first; i < last; i++)
            from[i] = rp_rng_percent(&r, 30) ? rp_rng_next(&r) : 0;
        rp_words_copy(to, from, n);
        CU_ASSERT_EQUAL(memcmp(to, from, n * sizeof *to), 0);
        if (rp_rng_percent(&r, 30)) {
            rp_words_clear(to, n);
            CU_ASSERT_EQUAL(memcmp(to, zeros, n * sizeof *to), 0);
        }
    }
}

/* An interrupt, or a limit of work, does not leave a schedule half pruned as if it were
 * whole. */
static void pruning_ends_at_a_stop(void) {
    struct task k;
    struct rp_stop stop = {.hit = true};
    task_init(&k, 3);
    CU_ASSERT(rp_schedule_prune_until(&k.p, &k.s, NULL));
    CU_ASSERT_FALSE(rp_schedule_prune_until(&k.p, &k.s, &stop));
    task_fini(&k);
}

void suite_schedule(void) {
    RP_SUITE("schedule");
    RP_TEST(keep_all_is_sound_and_runs_nothing_again);
    RP_TEST(a_stage_without_bytes_peaks_at_its_own_op);
    RP_TEST(a_pruned_schedule_costs_no_more_and_holds_nothing_in_vain);
    RP_TEST(pruning_ends_at_a_stop);
    RP_TEST(words_are_copied_and_cleared);
}
