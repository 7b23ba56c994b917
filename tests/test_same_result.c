/* Tests that the parts of the searches give the same result as before, on random small
 * graphs of all kinds. What a part promises is tested with the part; how well it searches
 * shows only here. Whoever changes a search on purpose writes down the new digest, which a
 * failure prints. `tools/check-cli.sh same_search` compares whole searches on networks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "gen.h"
#include "kernels/fill.h"
#include "run.h"
#include "solve/construct/greedy.h"
#include "solve/core/plan_claims.h"
#include "solve/local/anneal.h"
#include "solve/local/drop_swaps.h"
#include "solve/local/offload_all.h"
#include "solve/local/shrink_lifetimes.h"
#include "solve/order/anneal_order.h"
#include "solve/order/order_descent.h"
#include "solve/order/run_instance.h"

/* What is compared. */
struct digest {
    RP_VEC(uint64_t);
};

static void add(struct digest *d, uint64_t value) {
    rp_push(d, value);
}

static void add_schedule(struct digest *d, const struct rp_schedule *s) {
    for (size_t i = 0; i < s->words * (s->n_stages + 1u); i++) {
        add(d, s->rows[i]);
        add(d, s->ins != NULL ? s->ins[i] : 0);
    }
}

static void add_plan(struct digest *d, const struct rp_plan *plan) {
    for (size_t i = 0; i < plan->steps.n; i++)
        add(d, 8 * (uint64_t)plan->steps.at[i].id + plan->steps.at[i].kind);
    add(d, plan->homes.n);
}

/* ---- what is searched ---- */

enum kind { PLAIN, SWAPS, HOMES };

struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule start; /* keep-all */
    uint64_t n_asked;         /* whether to stop */
};

/* With `percent` of what keep-all takes. */
static void task_init(struct task *t, uint64_t seed, enum kind kind, uint32_t percent) {
    t->n_asked = 0;
    struct rp_gen_shape shape = rp_gen_small(8 + (uint32_t)(seed % 80));
    shape.training = seed % 4 != 0;
    shape.bandwidths = kind == SWAPS;
    shape.version_2 = seed % 2 != 0;
    if (kind == HOMES)
        rp_gen_host_graph(seed, 6 + (uint32_t)(seed % 40), &t->g);
    else
        rp_gen_graph(seed, &shape, &t->g);
    if (kind == SWAPS)
        t->g.device.h2d_bytes_per_s = t->g.device.d2h_bytes_per_s = 10000000000u
                                                                    << seed % 7;
    if (kind == HOMES)
        rp_instance_init_homes(&t->p, &t->g, RP_MAX_QUANTITY / 2, false, NULL);
    else
        rp_instance_init(&t->p, &t->g, RP_MAX_QUANTITY / 2, false, NULL);
    if (kind != PLAIN)
        rp_instance_allow_swap(&t->p, RP_MAX_QUANTITY);
    rp_schedule_keep_all(&t->p, &t->start);
    uint64_t all = rp_schedule_cost(&t->p, &t->start).peak_bytes;
    t->p.limit_bytes = all - all / 100 * (100 - percent);
}

static void task_fini(struct task *t) {
    rp_schedule_fini(&t->start);
    rp_instance_fini(&t->p);
    rp_graph_fini(&t->g);
}

/* Never. Counts how often it is asked. */
static bool count(void *arg) {
    ++*(uint64_t *)arg;
    return false;
}

static bool count_best(void *arg, double best_ns) {
    (void)best_ns;
    return count(arg);
}

static void anneal(struct task *t, uint64_t seed, struct rp_schedule *s,
                   struct rp_anneal_result *r) {
    struct rp_anneal_options o = {.seed = seed,
                                  .work = 150000,
                                  .initial_temperature = 1,
                                  .stop = count_best,
                                  .stop_arg = &t->n_asked};
    rp_schedule_copy(s, &t->start);
    rp_anneal(&t->p, &o, s, r);
}

/* ---- the parts ---- */

static void add_annealed(struct digest *d, uint64_t seed, enum kind kind) {
    struct task t;
    struct rp_schedule s = {0};
    struct rp_anneal_result r;
    task_init(&t, seed, kind, 30 + (uint32_t)(seed % 7) * 10);
    anneal(&t, seed, &s, &r);
    add_schedule(d, &s);
    add(d, r.found);
    add(d, r.moves);
    add(d, r.accepted);
    add(d, t.n_asked);
    rp_schedule_fini(&s);
    task_fini(&t);
}

static void add_greedy(struct digest *d, uint64_t seed, enum kind kind) {
    struct task t;
    struct rp_schedule s;
    bool *stays;
    task_init(&t, seed, kind, 40 + (uint32_t)(seed % 7) * 10);
    stays = rp_calloc(t.p.n_tensors, sizeof *stays);
    for (uint32_t x = 0; x < t.p.n_homes; x++)
        stays[x] = t.p.pinned[x] || (x + seed) % 4 == 0;
    rp_schedule_empty(&t.p, &s);
    bool found = rp_schedule_greedy(&t.p, stays, NULL, &s);
    add(d, found);
    if (found)
        add_schedule(d, &s);
    free(stays);
    rp_schedule_fini(&s);
    task_fini(&t);
}

static void add_dropped_swaps(struct digest *d, uint64_t seed, enum kind kind) {
    struct task t;
    struct rp_schedule s = {0}, fewer;
    struct rp_anneal_result r;
    task_init(&t, seed, kind, 60);
    anneal(&t, seed, &s, &r);
    rp_schedule_empty(&t.p, &fewer);
    t.p.limit_bytes += t.p.limit_bytes / 4;
    uint64_t max_bytes = seed % 3 == 0 ? t.p.bytes[seed % t.p.n_tensors] : UINT64_MAX;
    bool found = r.found && rp_drop_swaps(&t.p, max_bytes, NULL, &s, &fewer);
    add(d, found);
    if (found)
        add_schedule(d, &fewer);
    rp_schedule_fini(&fewer);
    rp_schedule_fini(&s);
    task_fini(&t);
}

static void add_shrunk(struct digest *d, uint64_t seed, enum kind kind) {
    struct task t;
    struct rp_plan plan = {0};
    struct rp_schedule s = {0};
    struct rp_anneal_result r;
    task_init(&t, seed, kind, 60);
    if (seed % 2 == 0) {
        rp_gen_plan(seed, &t.g, false, &plan);
    } else {
        anneal(&t, seed, &s, &r);
        if (r.found)
            rp_schedule_steps(&t.p, &s, NULL, &plan);
    }
    rp_shrink_lifetimes(&t.g, &plan);
    add_plan(d, &plan);
    rp_plan_fini(&plan);
    rp_schedule_fini(&s);
    task_fini(&t);
}

static void add_order(struct digest *d, uint64_t seed, enum kind kind) {
    struct task t;
    struct rp_instance runs;
    struct rp_plan plan = {0}, next = {0};
    task_init(&t, seed, kind, 50 + (uint32_t)(seed % 4) * 10);
    rp_run_instance_init(&runs, &t.p, false);
    struct rp_anneal_order_options o = {.seed = seed,
                                        .work = 200000,
                                        .may_recompute = seed % 3 != 0,
                                        .stop = count,
                                        .stop_arg = &t.n_asked};
    add(d, rp_anneal_order(&runs, &o, &plan));
    add_plan(d, &plan);
    o.start = &plan;
    o.may_recompute = seed % 2 != 0;
    if (plan.steps.n > 0)
        add(d, rp_anneal_order(&runs, &o, &next));
    add_plan(d, &next);
    add(d, t.n_asked);
    rp_plan_fini(&plan);
    rp_plan_fini(&next);
    rp_instance_fini(&runs);
    task_fini(&t);
}

/* From keep-all, or from what annealing found within less memory. */
static void add_descent(struct digest *d, uint64_t seed, enum kind kind) {
    struct task t;
    struct rp_plan plan = {0};
    struct rp_schedule s = {0};
    struct rp_anneal_result r;
    task_init(&t, seed, kind, seed % 2 == 0 ? 100 : 70);
    anneal(&t, seed, &s, &r);
    struct rp_order_descent_options o = {.seed = seed,
                                         .work = 200000,
                                         .may_recompute = seed % 3 != 0,
                                         .stop = count,
                                         .stop_arg = &t.n_asked};
    const struct rp_schedule *start = seed % 2 == 0 ? &t.start : &s;
    if (seed % 2 == 0 || r.found)
        add(d, rp_order_descent(&t.p, start, &o, &plan));
    add_plan(d, &plan);
    add(d, t.n_asked);
    rp_plan_fini(&plan);
    rp_schedule_fini(&s);
    task_fini(&t);
}

static void add_offloaded(struct digest *d, uint64_t seed, enum kind kind) {
    struct task t;
    task_init(&t, seed, kind, 100);
    rp_schedule_offload_all(&t.p, seed % 2 == 0, &t.start);
    add_schedule(d, &t.start);
    task_fini(&t);
}

static const struct {
    const char *name;
    void (*add)(struct digest *d, uint64_t seed, enum kind kind);
    enum kind kind;
    uint32_t n;
    uint64_t hash;
} parts[] = {
    {"anneal", add_annealed, PLAIN, 40, 0xeac2c1d99a7b6f4b},
    {"anneal with swaps", add_annealed, SWAPS, 80, 0x01ef6af9c1abd2b1},
    {"anneal with homes", add_annealed, HOMES, 40, 0xcd9cc7eed5ad9675},
    {"greedy", add_greedy, PLAIN, 200, 0xb076c99b2f529e03},
    {"greedy with homes", add_greedy, HOMES, 200, 0x7c5b08fe78d8e679},
    {"drop swaps", add_dropped_swaps, SWAPS, 30, 0x52f9df1a2f8459da},
    {"drop swaps with homes", add_dropped_swaps, HOMES, 30, 0x04675f159902d579},
    {"shrink lifetimes", add_shrunk, SWAPS, 40, 0x7c55f5610d4f5b59},
    {"shrink lifetimes with homes", add_shrunk, HOMES, 40, 0x91ee2387f5b6047e},
    {"offload all", add_offloaded, SWAPS, 60, 0x34ebc6fc2d0bac93},
    {"offload all with homes", add_offloaded, HOMES, 60, 0x96df585cb25ae6fd},
    {"anneal the order of homes", add_order, HOMES, 30, 0x3ba6b3002e3d31d2},
    {"anneal the order", add_order, PLAIN, 30, 0x5505a7f9ccad6f71},
    {"descent over orders", add_descent, HOMES, 40, 0xd5a1ba7cd0c6431c},
};

static void each_part_finds_what_it_found_before(void) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct digest d = {0};
        for (uint64_t seed = 1; seed <= parts[i].n; seed++)
            parts[i].add(&d, seed, parts[i].kind);
        uint64_t hash = rp_checksum(d.at, d.n * sizeof *d.at);
        if (hash != parts[i].hash) {
            printf("%s: the digest is 0x%016" PRIx64 "\n", parts[i].name, hash);
            CU_FAIL("another result");
        }
        free(d.at);
    }
}

void suite_same_result(void) {
    RP_SUITE("same_result");
    RP_TEST(each_part_finds_what_it_found_before);
}
