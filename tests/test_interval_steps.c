/* The steps for random actions against the rules of interval_steps.h and
 * interval_actions.h, carried out in the plainest way: no lists by stage, no bit sets, and
 * every question looks at the whole instance. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "gen.h"
#include "policies.h"
#include "policy/interval_steps.h"
#include "policy/intervals.h"
#include "policy/policy.h"
#include "run.h"
#include "solve/core/plan_claims.h"

enum { MAX_OPS = 12, MAX_TENSORS = 30, MAX_INTERVALS = 400 };

struct naive {
    const struct rp_instance *p;
    struct rp_interval_actions *a; /* what is impossible becomes KEEP */
    struct rp_recorder r;
    bool recomputes;
    bool leaving[MAX_TENSORS], held[MAX_TENSORS];
    uint32_t first_need[MAX_INTERVALS];
    uint64_t peak_bytes[MAX_OPS]; /* per stage */
    uint32_t t;                   /* this stage */
};

/* ---- the instance ---- */

static bool reads(const struct naive *w, uint32_t op, uint32_t x) {
    const struct rp_instance *p = w->p;
    for (uint32_t k = p->input_start[op]; k < p->input_start[op + 1]; k++)
        if (p->inputs[k] == x)
            return true;
    return false;
}

static bool uses(const struct naive *w, uint32_t op, uint32_t x) {
    return w->p->producer[x] == op || reads(w, op, x);
}

/* The interval of x that ends with its first reader from op t on; RP_NONE if there is none.
 */
static uint32_t interval_from(const struct naive *w, uint32_t x, uint32_t t) {
    const struct rp_instance *p = w->p;
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
        if (p->readers[e] >= t)
            return e;
    return RP_NONE;
}

static uint32_t begin_of(const struct naive *w, uint32_t x, uint32_t e) {
    return e == w->p->reader_start[x] ? w->p->producer[x] : w->p->readers[e - 1];
}

static void drop_impossible(struct naive *w) {
    const struct rp_instance *p = w->p;
    w->recomputes = false;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            uint8_t *action = &w->a->action[e];
            bool too_early = w->a->trigger[e] <= begin_of(w, x, e);
            if ((*action == RP_INTERVAL_RECOMPUTE && p->irreplaceable[x]) ||
                (*action == RP_INTERVAL_SWAP && (!rp_may_swap(p) || too_early)))
                *action = RP_INTERVAL_KEEP;
            w->recomputes = w->recomputes || *action == RP_INTERVAL_RECOMPUTE;
            w->a->trigger[e] = rp_min_u32(w->a->trigger[e], p->readers[e]);
        }
}

/* ---- steps ---- */

static void note_peak(struct naive *w, uint64_t bytes) {
    w->peak_bytes[w->t] = rp_max_u64(w->peak_bytes[w->t], bytes);
}

static void swap_in(struct naive *w, uint32_t x) {
    rp_recorder_swap_in(&w->r, x);
    note_peak(w, w->r.live_bytes);
}

static void free_leaving(struct naive *w, uint32_t x) {
    w->leaving[x] = false;
    rp_recorder_free(&w->r, x);
}

static void free_copied(struct naive *w) {
    for (uint32_t x = 0; x < w->p->n_tensors; x++)
        if (w->leaving[x] && rp_recorder_host_ready_ns(&w->r, x) <= w->r.time.compute_ns)
            free_leaving(w, x);
}

static void make_room(struct naive *w, uint64_t bytes) {
    while (w->r.live_bytes + bytes > w->p->limit_bytes) {
        uint32_t first = RP_NONE;
        for (uint32_t x = 0; x < w->p->n_tensors; x++)
            if (w->leaving[x] &&
                (first == RP_NONE || rp_recorder_host_ready_ns(&w->r, x) <
                                         rp_recorder_host_ready_ns(&w->r, first)))
                first = x;
        if (first == RP_NONE)
            return;
        free_leaving(w, first);
    }
}

static bool is_swapped(const struct naive *w, uint32_t x) {
    for (uint32_t e = w->p->reader_start[x]; e < w->p->reader_start[x + 1]; e++)
        if (w->a->action[e] == RP_INTERVAL_SWAP)
            return true;
    return false;
}

static void copies_that_are_due(struct naive *w) {
    const struct rp_instance *p = w->p;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if (is_swapped(w, x) && w->a->swap_out_stage[x] == w->t && w->r.on_device[x] &&
            !w->r.on_host[x])
            rp_recorder_swap_out(&w->r, x);
    free_copied(w);
    for (uint32_t reader = 0; reader < p->n_ops; reader++) /* what is needed first */
        for (uint32_t x = 0; x < p->n_tensors; x++)
            for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
                if (p->readers[e] != reader || w->a->action[e] != RP_INTERVAL_SWAP ||
                    w->a->trigger[e] != w->t)
                    continue;
                w->leaving[x] = false;
                if (!w->r.on_device[x] && w->r.on_host[x]) {
                    make_room(w, p->bytes[x]);
                    swap_in(w, x);
                }
            }
}

/* What is used for the last time in this stage, and when its next use comes. */
static void after_use(struct naive *w, uint32_t x) {
    uint32_t e = interval_from(w, x, w->t + 1);
    if (e == RP_NONE) {
        bool may_be_needed = w->recomputes && w->p->irreplaceable[x] && !w->r.on_host[x];
        if (w->a->hold_until[x] > w->t)
            w->held[x] = true;
        else if (!w->p->kept[x] && !may_be_needed)
            rp_recorder_free(&w->r, x);
        return;
    }
    if (w->t > begin_of(w, x, e) && w->a->keep_restored[x])
        return;
    if (w->a->action[e] == RP_INTERVAL_RECOMPUTE)
        rp_recorder_free(&w->r, x);
    if (w->a->action[e] != RP_INTERVAL_SWAP || w->a->trigger[e] <= w->t)
        return;
    if (!w->r.on_host[x])
        rp_recorder_swap_out(&w->r, x);
    w->leaving[x] = true;
    if (w->a->wait_for_swap_out)
        free_leaving(w, x);
}

/* An output of op j is on its way in: that copy is delayed or given up. */
static bool meets_swap_in(struct naive *w, uint32_t j) {
    bool meets = false;
    for (uint32_t x = 0; x < w->p->n_tensors; x++) {
        if (w->p->producer[x] != j || !w->r.on_device[x] ||
            rp_recorder_ready_ns(&w->r, x) <= w->r.time.compute_ns)
            continue;
        uint32_t e = interval_from(w, x, w->t);
        meets = true;
        if (e != RP_NONE && w->p->readers[e] > w->t)
            w->a->trigger[e] = w->t + 1;
        else if (e != RP_NONE)
            w->a->action[e] = RP_INTERVAL_RECOMPUTE;
    }
    return meets;
}

static bool run(struct naive *w, const bool *runs, uint32_t j) {
    const struct rp_instance *p = w->p;
    free_copied(w);
    make_room(w, rp_recorder_run_bytes(&w->r, j));
    if (meets_swap_in(w, j))
        return false;
    note_peak(w, w->r.live_bytes + rp_recorder_run_bytes(&w->r, j));
    rp_recorder_run(&w->r, j);
    for (int made = 0; made < 2; made++)
        for (uint32_t x = 0; x < p->n_tensors; x++) {
            bool last = made ? p->producer[x] == j : reads(w, j, x);
            for (uint32_t i = j + 1; i <= w->t; i++)
                last = last && !(runs[i] && uses(w, i, x));
            if (last)
                after_use(w, x);
        }
    return true;
}

/* False if a run met a swap-in. */
static bool stage(struct naive *w) {
    const struct rp_instance *p = w->p;
    bool runs[MAX_OPS] = {false}, seen[MAX_TENSORS] = {false};
    uint32_t fetch[MAX_TENSORS], n_fetch = 0;
    note_peak(w, w->r.live_bytes);
    copies_that_are_due(w);
    runs[w->t] = true;
    for (uint32_t j = w->t + 1; j-- > 0;)
        for (uint32_t x = 0; x < p->n_tensors; x++) {
            uint32_t e = interval_from(w, x, w->t);
            if (!runs[j] || !reads(w, j, x))
                continue;
            w->leaving[x] = false;
            if (e != RP_NONE)
                w->first_need[e] = rp_min_u32(w->first_need[e], w->t);
            if (w->r.on_device[x] || seen[x])
                continue;
            seen[x] = true;
            if (w->r.on_host[x])
                fetch[n_fetch++] = x;
            else
                runs[p->producer[x]] = true;
        }
    for (uint32_t k = 0; k < n_fetch; k++) {
        bool made = runs[p->producer[fetch[k]]];
        make_room(w, made ? 0 : p->bytes[fetch[k]]);
        if (!made)
            swap_in(w, fetch[k]);
    }
    for (uint32_t j = 0; j <= w->t; j++)
        if (runs[j] && !run(w, runs, j))
            return false;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if (w->held[x] && w->a->hold_until[x] <= w->t) {
            w->held[x] = false;
            if (w->r.on_device[x] && !p->kept[x])
                rp_recorder_free(&w->r, x);
        }
    return true;
}

static void record(struct naive *w) {
    bool ok;
    do {
        drop_impossible(w);
        rp_recorder_clear(&w->r);
        memset(w->leaving, 0, sizeof w->leaving);
        memset(w->held, 0, sizeof w->held);
        memset(w->peak_bytes, 0, sizeof w->peak_bytes);
        ok = true;
        for (w->t = 0; w->t < w->p->n_ops && ok; w->t++)
            ok = stage(w);
    } while (!ok);
}

/* Delays each swap-in that is early while memory is short, until there is room again. What
 * that frees in the stages passed is room for the tensors that follow. */
static bool delay(const struct rp_instance *p, struct rp_interval_actions *a,
                  const uint32_t *first_need, uint64_t *peak_bytes) {
    bool any = false;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            const uint32_t from = a->trigger[e];
            uint32_t to = from;
            if (a->action[e] != RP_INTERVAL_SWAP)
                continue;
            for (uint32_t t = from; t < first_need[e]; t++)
                if (peak_bytes[t] > p->limit_bytes)
                    to = t + 1;
            for (uint32_t t = from; t < to; t++)
                peak_bytes[t] -= rp_min_u64(peak_bytes[t], p->bytes[x]);
            a->trigger[e] = to;
            any = any || to > from;
        }
    return any;
}

/* `a` gets the triggers of the last recording. */
static void record_delayed(struct naive *w, struct rp_interval_actions *a,
                           const uint32_t *first_need) {
    for (int k = 0; k == 0 || (k <= 4 && w->r.peak_bytes > w->p->limit_bytes &&
                               delay(w->p, a, first_need, w->peak_bytes));
         k++) {
        rp_interval_actions_copy(w->p, w->a, a);
        record(w);
    }
}

/* ---- the comparison ---- */

static int by_id(const void *a, const void *b) {
    const struct rp_step *s = a, *t = b;
    return (s->id > t->id) - (s->id < t->id);
}

/* What is freed at one time has no order. */
static void sort_frees(struct rp_plan *plan) {
    for (size_t i = 0, n; i < plan->steps.n; i += n) {
        for (n = 1; i + n < plan->steps.n && plan->steps.at[i].kind == RP_FREE &&
                    plan->steps.at[i + n].kind == RP_FREE;
             n++)
            ;
        qsort(plan->steps.at + i, n, sizeof *plan->steps.at, by_id);
    }
}

static bool is_same(struct rp_plan *a, struct rp_plan *b) {
    sort_frees(a);
    sort_frees(b);
    return rp_same_steps(a, b);
}

/* What the recorder has summed up is what its steps do. */
static bool sums_are_right(const struct rp_graph *g, struct rp_recorder *r) {
    struct rp_err err = {{0}};
    uint64_t out = 0, n_runs;
    r->plan.graph_name = rp_strdup(g->name);
    r->plan.graph_sha256 = rp_strdup(g->sha256);
    CU_ASSERT_EQUAL_FATAL(rp_plan_fill_claims(g, &r->plan, &err), RP_OK);
    for (size_t i = 0; i < r->plan.steps.n; i++)
        if (r->plan.steps.at[i].kind == RP_SWAP_OUT)
            out += g->tensors[r->plan.steps.at[i].id].bytes;
    const struct rp_claims *c = &r->plan.claims;
    return c->peak_bytes == g->fixed_bytes + r->peak_bytes &&
           c->time_ns == rp_recorder_end_ns(r) && c->recompute_ns == r->recompute_ns &&
           r->out_bytes == out &&
           rp_plan_copied_bytes(g, &r->plan, &n_runs) == out + r->in_bytes &&
           n_runs >= g->n_ops && r->n_first == g->n_ops;
}

static void draw_actions(struct rp_rng *r, const struct rp_instance *p,
                         struct rp_interval_actions *a) {
    uint32_t keep_percent = (uint32_t)rp_rng_below(r, 80);
    rp_interval_actions_init(p, a);
    a->wait_for_swap_out = rp_rng_percent(r, 30);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        if (rp_rng_percent(r, 30))
            a->swap_out_stage[x] = (uint32_t)rp_rng_below(r, p->n_ops + 3);
        if (!p->irreplaceable[x] && rp_rng_percent(r, 20))
            a->hold_until[x] = (uint32_t)rp_rng_below(r, p->n_ops);
        a->keep_restored[x] = rp_rng_percent(r, 70);
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            if (!rp_rng_percent(r, keep_percent))
                a->action[e] = 1 + (uint8_t)rp_rng_below(r, 2);
            if (rp_rng_percent(r, 60))
                a->trigger[e] = (uint32_t)rp_rng_below(r, p->n_ops + 2);
        }
    }
}

static bool one_case(const struct rp_graph *g, uint64_t seed) {
    struct rp_rng random = {seed};
    struct rp_instance p;
    struct rp_recorder r;
    struct rp_interval_actions a, late, early, delayed;
    uint32_t first_need[MAX_INTERVALS];
    uint64_t peak[MAX_OPS];
    rp_instance_init(&p, g, g->fixed_bytes + rp_rng_below(&random, 40000), false, NULL);
    CU_ASSERT_FATAL(p.n_tensors <= MAX_TENSORS && rp_n_intervals(&p) <= MAX_INTERVALS);
    draw_actions(&random, &p, &a);
    rp_recorder_init(&r, &p);
    struct naive w = {.p = &p, .a = &a};
    rp_recorder_init(&w.r, &p);

    rp_interval_actions_init(&p, &late);
    rp_interval_actions_copy(&p, &late, &a);
    rp_interval_actions_init(&p, &early);
    rp_interval_actions_copy(&p, &early, &a);
    rp_interval_actions_init(&p, &delayed);
    rp_interval_actions_copy(&p, &delayed, &a);
    rp_interval_steps_record(&a, &r, peak);
    record(&w);
    bool same = is_same(&r.plan, &w.r.plan) &&
                memcmp(peak, w.peak_bytes, p.n_ops * sizeof *peak) == 0 &&
                r.peak_bytes == w.r.peak_bytes && sums_are_right(g, &r);

    rp_interval_steps_first_needs(&late, &r, first_need);
    w.a = &late;
    drop_impossible(&w);
    memcpy(late.trigger, p.readers, rp_n_intervals(&p) * sizeof *p.readers);
    memcpy(w.first_need, p.readers, rp_n_intervals(&p) * sizeof *p.readers);
    record(&w);
    same = same &&
           memcmp(first_need, w.first_need, rp_n_intervals(&p) * sizeof *first_need) == 0;

    rp_interval_steps_record_delayed(&early, &r, peak);
    record_delayed(&w, &delayed, first_need);
    same = same && is_same(&r.plan, &w.r.plan) &&
           memcmp(peak, w.peak_bytes, p.n_ops * sizeof *peak) == 0 &&
           memcmp(early.trigger, delayed.trigger,
                  rp_n_intervals(&p) * sizeof *delayed.trigger) == 0;

    rp_interval_actions_fini(&delayed);
    rp_interval_actions_fini(&early);
    rp_interval_actions_fini(&late);
    rp_interval_actions_fini(&a);
    rp_recorder_fini(&w.r);
    rp_recorder_fini(&r);
    rp_instance_fini(&p);
    return same;
}

static void check_seed(uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)seed % (MAX_OPS - 3));
    struct rp_graph g;
    shape.training = seed % 4 != 0;
    shape.max_outputs = 1 + seed % 2;
    shape.bandwidths = seed % 8 != 0;
    rp_gen_graph(seed, &shape, &g);
    g.device.copy_latency_ns = 1; /* no two copies of a queue end at the same time */
    if (shape.bandwidths)
        g.device.d2h_bytes_per_s = g.device.h2d_bytes_per_s = UINT64_C(5000000000)
                                                              << seed % 7;
    if (!one_case(&g, seed)) {
        rp_gen_failed(seed);
        CU_FAIL("other steps, peaks, first needs or delays");
    }
    rp_graph_fini(&g);
}

static void steps_follow_the_actions(void) {
    uint32_t n = 1000;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        check_seed(seed);
}

/* Tensors wait for their copies out when all is recorded anew. */
static void what_was_leaving_is_forgotten_when_all_is_recorded_anew(void) {
    check_seed(5759);
}

/* An early swap-in ends before op 1 runs again and would meet it: another tensor is needed
 * then. */
static void first_needs_ignore_triggers(void) {
    check_seed(132395);
}

void suite_interval_steps(void) {
    RP_SUITE("interval_steps");
    RP_TEST(steps_follow_the_actions);
    RP_TEST(what_was_leaving_is_forgotten_when_all_is_recorded_anew);
    RP_TEST(first_needs_ignore_triggers);
}
