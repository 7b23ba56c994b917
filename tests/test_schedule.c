/* Tests of solve/core/schedule.h and prune.h on random graphs. */
#include "solve/core/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "drawn.h"
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
    rp_stage_work_fini(&w); /* it is zero */
    task_fini(&k);
}

/* Its rows have as many bits as there are tensors, in whole words, and one more row. */
static void a_schedule_may_take_a_gigabyte_and_no_more(void) {
    struct rp_instance p = {.n_tensors = 64 * 1023, .n_ops = (1 << 17) - 1};
    CU_ASSERT_FALSE(rp_schedule_too_large(&p));
    p.n_ops++;
    CU_ASSERT(rp_schedule_too_large(&p));
}

/* ---- random schedules ---- */

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

static void change_often(struct task *k, uint64_t seed, uint32_t n) {
    struct rp_rng r = {seed};
    struct rp_schedule before;
    rp_schedule_empty(&k->p, &before);
    for (uint32_t i = 0; i < n && k->p.n_tensors > 0; i++)
        change_at_random(k, &r, &before);
    rp_schedule_fini(&before);
}

static bool same_stage(const struct rp_stage *a, const struct rp_stage *b) {
    return a->time_ns == b->time_ns && a->peak_bytes == b->peak_bytes &&
           a->peak_op == b->peak_op && a->n_runs == b->n_runs &&
           memcmp(a->runs, b->runs, a->n_runs * sizeof *a->runs) == 0;
}

/* The working memory of a stage says nothing about the next one. */
static void stages_may_be_evaluated_in_any_order(void) {
    uint32_t n = 200, n_again = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_rng r = {seed};
        struct rp_stage_work used, fresh;
        struct task k;
        bool right = true;
        task_init(&k, seed);
        change_often(&k, seed, 50);
        rp_stage_work_init(&k.p, &used);
        for (uint32_t i = 0; i < 2 * k.p.n_ops && right; i++) {
            uint32_t t = (uint32_t)rp_rng_below(&r, k.p.n_ops);
            memset(&fresh, 0xff, sizeof fresh);
            rp_stage_work_init(&k.p, &fresh);
            right = rp_stage_eval(&k.p, &k.s, t, &used) &&
                    rp_stage_eval(&k.p, &k.s, t, &fresh) &&
                    same_stage(&used.stage, &fresh.stage);
            n_again += fresh.stage.n_runs > 1;
            rp_stage_work_fini(&fresh);
        }
        if (!right) {
            rp_gen_failed(seed);
            CU_FAIL("a stage depends on those that were evaluated before");
        }
        rp_stage_work_fini(&used);
        task_fini(&k);
    }
    CU_ASSERT(n_again > 100 || rp_gen_one_seed());
}

/* Nothing is held, so each stage makes all again. b1 reads a, which f3 does not. */
static void a_stage_frees_what_its_own_runs_need_no_longer(void) {
    static const struct rp_drawn_op ops[] = {
        {"f1", "conv", "s", "a", 100, 10, false},
        {"f2", "conv", "a", "b", 100, 10, false},
        {"f3", "conv", "b", "c", 100, 10, false},
        {"b1", "conv", "ac", "g", 100, 10, false},
    };
    struct rp_stage_work w;
    struct task k;
    rp_draw(ops, sizeof ops / sizeof *ops, &k.g);
    rp_instance_init(&k.p, &k.g, 1000, false, NULL);
    rp_schedule_empty(&k.p, &k.s);
    rp_stage_work_init(&k.p, &w);
    CU_ASSERT(rp_stage_eval(&k.p, &k.s, 3, &w) && w.stage.n_runs == 4);
    CU_ASSERT_EQUAL(w.stage.peak_bytes, 300);
    CU_ASSERT(rp_stage_eval(&k.p, &k.s, 2, &w) && w.stage.n_runs == 3);
    CU_ASSERT(w.stage.peak_bytes == 200 && w.stage.peak_op == 1);
    rp_stage_work_fini(&w);
    task_fini(&k);
}

/* ---- the cost, from the steps ---- */

/* What lies on the device as steps are made, by their meaning alone. */
struct memory {
    const struct rp_instance *p;
    uint64_t *bytes; /* per tensor of the graph; 0 for sources that always stay */
    bool *present;
    uint64_t live_bytes;
    uint32_t stage;
    struct rp_cost cost; /* its peak */
};

static void memory_init(struct memory *m, const struct task *k) {
    const struct rp_instance *p = &k->p;
    *m = (struct memory){.p = p, .stage = p->n_homes > 0, .cost.peak_op = RP_NONE};
    m->bytes = rp_calloc(k->g.n_tensors, sizeof *m->bytes);
    m->present = rp_calloc(k->g.n_tensors, sizeof *m->present);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        m->bytes[p->tensor_of[x]] = k->g.tensors[p->tensor_of[x]].bytes;
    for (uint32_t x = 0; x < p->n_homes; x++)
        if (rp_source_stays(p, &k->s, x)) {
            m->present[p->tensor_of[x]] = true;
            m->live_bytes += m->bytes[p->tensor_of[x]];
        }
}

static void set_present(struct memory *m, uint32_t x, bool present) {
    m->live_bytes += present ? m->bytes[x] : -m->bytes[x];
    m->present[x] = present;
}

static void memory_run(struct memory *m, uint32_t i) {
    const struct rp_op *op = &m->p->graph->ops[i];
    uint32_t begin = m->p->n_homes > 0;
    uint64_t bytes = op->workspace_bytes;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (!m->present[op->outputs[k]])
            set_present(m, op->outputs[k], true);
        else
            bytes += op->cannot_rewrite ? m->bytes[op->outputs[k]] : 0;
    bytes += m->live_bytes;
    if (bytes > m->cost.peak_bytes) {
        m->cost.peak_bytes = bytes;
        m->cost.peak_stage = m->stage;
        m->cost.peak_op = i + begin;
    }
    m->stage += i + begin == m->stage;
}

static struct rp_cost peak_of_steps(const struct task *k) {
    struct rp_plan plan = {0};
    struct memory m;
    memory_init(&m, k);
    rp_schedule_steps(&k->p, &k->s, NULL, &plan);
    for (size_t i = 0; i < plan.steps.n; i++)
        if (plan.steps.at[i].kind == RP_RUN)
            memory_run(&m, plan.steps.at[i].id);
        else if (plan.steps.at[i].kind != RP_SWAP_OUT)
            set_present(&m, plan.steps.at[i].id, plan.steps.at[i].kind == RP_SWAP_IN);
    rp_plan_fini(&plan);
    free(m.bytes);
    free(m.present);
    return m.cost;
}

static void the_peak_is_the_first_that_the_steps_reach(void) {
    uint32_t n = 300, n_again = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task k;
        task_init(&k, seed);
        change_often(&k, seed, 50);
        struct rp_cost c = rp_schedule_cost(&k.p, &k.s), peak = peak_of_steps(&k);
        if (!c.sound || c.peak_bytes != peak.peak_bytes ||
            c.peak_stage != peak.peak_stage || c.peak_op != peak.peak_op) {
            rp_gen_failed(seed);
            CU_FAIL("another peak than that of the steps");
        }
        n_again += peak.peak_op < peak.peak_stage;
        task_fini(&k);
    }
    CU_ASSERT(n_again > 5 || rp_gen_one_seed());
}

/* ---- schedules that are not sound ---- */

/* Keep-all with one row of version x the other way round is not sound. */
static bool finds_wrong_row(struct task *k, uint32_t x, uint32_t t, uint32_t *n) {
    bool held = rp_held(&k->s, t, x);
    rp_schedule_set(&k->s, x, t, t, !held);
    bool found = !rp_schedule_cost(&k->p, &k->s).sound;
    rp_schedule_set(&k->s, x, t, t, held);
    ++*n;
    return found;
}

static void versions_are_held_until_they_are_overwritten_or_live_on_the_host(void) {
    uint32_t n = 200, n_overwritten = 0, n_staying = 0, n_on_host = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task k;
        bool right = true;
        task_init(&k, seed);
        for (uint32_t x = 0; x < k.p.n_tensors && right; x++) {
            if (!rp_is_version(&k.p, x))
                continue;
            uint32_t last = rp_last_row(&k.p, x);
            if (last < k.p.n_ops)
                right = finds_wrong_row(&k, x, last + 1, &n_overwritten);
            if (rp_source_stays(&k.p, &k.s, x))
                right = right && finds_wrong_row(&k, x, last, &n_staying);
            else if (x < k.p.n_homes)
                right = right && finds_wrong_row(&k, x, 1, &n_on_host);
        }
        if (!right) {
            rp_gen_failed(seed);
            CU_FAIL("a version may be held where it is not, or missing");
        }
        task_fini(&k);
    }
    CU_ASSERT((n_overwritten > 20 && n_staying > 20 && n_on_host > 20) ||
              rp_gen_one_seed());
}

/* f1 -a-> f2 -b-> f3 -c-> b1 */
static void draw_chain(struct task *k, bool once) {
    const struct rp_drawn_op ops[] = {
        {"f1", "conv", "s", "a", 100, 10, once},
        {"f2", "conv", "a", "b", 1, 10, false},
        {"f3", "conv", "b", "c", 1, 10, false},
        {"b1", "conv", "c", "g", 1, 10, false},
    };
    rp_draw(ops, sizeof ops / sizeof *ops, &k->g);
    rp_instance_init(&k->p, &k->g, 1000, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&k->p, RP_MAX_QUANTITY));
    rp_schedule_keep_all(&k->p, &k->s);
    CU_ASSERT(rp_schedule_cost(&k->p, &k->s).sound);
}

/* Nothing uses a once it is back, and its copy takes longer than f3. */
static void what_is_freed_during_its_swap_in_is_not_sound(void) {
    struct task k;
    draw_chain(&k, false);
    rp_schedule_set_in(&k.s, 0, 2, true);
    rp_schedule_set(&k.s, 0, 3, 3, true);
    CU_ASSERT_FALSE(rp_schedule_cost(&k.p, &k.s).sound);
    rp_schedule_set(&k.s, 0, 4, 4, true);
    CU_ASSERT(rp_schedule_cost(&k.p, &k.s).sound);
    task_fini(&k);
}

static void an_op_that_may_run_once_does_not_run_again(void) {
    for (int once = 0; once < 2; once++) {
        struct task k;
        draw_chain(&k, once);
        rp_schedule_set(&k.s, 0, 1, 1, false);
        struct rp_cost c = rp_schedule_cost(&k.p, &k.s);
        CU_ASSERT(c.sound == !once && !c.overflows);
        task_fini(&k);
    }
}

/* Once takes less than 2^63 ns, twice does not. */
static void runs_that_take_too_long_together_overflow(void) {
    struct task k;
    draw_chain(&k, false);
    k.p.time_ns[0] = (uint64_t)1 << 62;
    CU_ASSERT(rp_schedule_cost(&k.p, &k.s).sound);
    rp_schedule_set(&k.s, 0, 1, 1, false);
    struct rp_cost c = rp_schedule_cost(&k.p, &k.s);
    CU_ASSERT(c.overflows && !c.sound);
    task_fini(&k);
}

/* ---- pruning ---- */

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
        struct task k;
        task_init(&k, seed);
        change_often(&k, seed, 150);
        if (!pruning_costs_nothing(&k, &n_fewer_ins, &n_unsound)) {
            rp_gen_failed(seed);
            CU_FAIL("pruning costs something, or leaves holds without a use");
        }
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
    RP_TEST(a_schedule_may_take_a_gigabyte_and_no_more);
    RP_TEST(stages_may_be_evaluated_in_any_order);
    RP_TEST(a_stage_frees_what_its_own_runs_need_no_longer);
    RP_TEST(the_peak_is_the_first_that_the_steps_reach);
    RP_TEST(versions_are_held_until_they_are_overwritten_or_live_on_the_host);
    RP_TEST(what_is_freed_during_its_swap_in_is_not_sound);
    RP_TEST(an_op_that_may_run_once_does_not_run_again);
    RP_TEST(runs_that_take_too_long_together_overflow);
    RP_TEST(a_pruned_schedule_costs_no_more_and_holds_nothing_in_vain);
    RP_TEST(pruning_ends_at_a_stop);
    RP_TEST(words_are_copied_and_cleared);
}
