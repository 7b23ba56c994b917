/* Whole searches on random graphs, against what they did before: the work of each part, and
 * the plans.
 *
 * What a search promises is tested elsewhere. This is for all the rest that it decides: if
 * you change nothing of it on purpose, no counter changes. If you do, see what changes
 * (RP_SEED=N prints the searches on graph N), and take the new digests over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "digest.h"
#include "gen.h"
#include "policies.h"
#include "run.h"
#include "solve/construct/copy_ahead.h"
#include "solve/construct/keep_sources.h"
#include "solve/core/schedule.h"
#include "solve/local/offload_all.h"
#include "solve/solver.h"
#include "solve/statistics.h"
#include "verify/verifier.h"

/* A kind of search, and its graphs. */
struct kind {
    uint32_t n_graphs, min_ops, max_ops;
    double time_limit;
    uint64_t seeds_before; /* the first graph's */
    bool recompute, swap, reorder;
    bool homes; /* sources may live on the host */
    bool without_addresses;
    bool from_keep_all;  /* the start plan runs each op once */
    bool from_any_order; /* the start plan is that of a search in any order */
};

static void draw_graph(uint64_t seed, const struct kind *k, struct rp_graph *g) {
    uint32_t n_ops = k->min_ops + (uint32_t)(seed * 7 % (k->max_ops - k->min_ops + 1));
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    if (k->homes) {
        rp_gen_host_graph(seed, n_ops, g);
        return;
    }
    shape.training = seed % 4 != 0;
    shape.max_outputs = 1 + seed % 3 / 2;
    shape.once_percent = seed % 5 == 0 ? 20 : 0;
    shape.rules_percent = seed % 7 == 0 ? 20 : 0;
    shape.keep_percent = seed % 6 * 3;
    rp_gen_graph(seed, &shape, g);
    if (k->swap) /* a copy takes from a tenth of an op to six ops */
        g->device.h2d_bytes_per_s = g->device.d2h_bytes_per_s =
            (shape.max_bytes * UINT64_C(1000000)) << seed % 7;
}

/* A graph with eight sources, which may or must live on the host. */
static void draw_many_sources(uint64_t seed, uint32_t n_ops, struct rp_graph *g) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    struct rp_err err = {{0}};
    shape.n_sources = 8;
    shape.training = seed % 3 != 0;
    rp_gen_graph(seed, &shape, g);
    g->device.h2d_bytes_per_s = g->device.d2h_bytes_per_s = UINT64_C(5000000000)
                                                            << seed % 5;
    for (uint32_t x = 0; x < shape.n_sources; x++)
        g->tensors[x].home = (x + seed) % 4 == 0 ? RP_HOME_HOST : RP_HOME_ANY;
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(g, "g", &err), RP_OK);
}

/* All work takes time. How much says nothing about the search. */
static void take_seconds(struct rp_statistics *s) {
    for (int i = 0; i < RP_N_METHODS; i++) {
        CU_ASSERT(s->method[i].work == 0 || s->method[i].seconds > 0);
        s->method[i].seconds = 0;
    }
    CU_ASSERT(s->placements == 0 || s->pack_seconds > 0);
    s->pack_seconds = 0;
}

/* What a search has done, and its plan. */
static void add_search(const struct rp_graph *g, const struct rp_solve_options *given,
                       char digest[65], struct rp_plan *plan) {
    struct rp_solve_options o = *given;
    struct rp_solve_report r;
    struct rp_statistics s;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    char *text;
    size_t n;
    o.statistics = &s;
    rp_rc rc = rp_solve(g, &o, plan, &r, &err);
    CU_ASSERT(rc == RP_NO || rc == RP_LIMIT ||
              (rc == RP_OK && rp_verify(g, plan, &v, &err) == RP_OK));
    take_seconds(&s);
    FILE *f = open_memstream(&text, &n);
    fprintf(f, "%d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", rc, r.capped,
            r.moves, r.missing_bytes, r.min_bytes, plan->arena_bytes, r.reason);
    rp_statistics_text(&s, f);
    fclose(f);
    char *steps = rp_steps_text(g, plan);
    char *words =
        rp_format("%s%s bound %" PRIu64 "\n", text, steps, plan->claims.lower_bound_ns);
    if (rp_gen_one_seed())
        fputs(words, stdout);
    rp_digest_add(digest, words);
    free(words);
    free(steps);
    free(text);
}

/* The start plan of a search of this kind. */
static void make_start(const struct rp_graph *g, const struct kind *k,
                       const struct rp_solve_options *o, char digest[65],
                       struct rp_plan *start) {
    struct rp_solve_options other = *o;
    *start = (struct rp_plan){0};
    if (k->from_keep_all)
        rp_gen_keep_all(g, o->addressed, start);
    other.reorder = other.recompute = true;
    other.start = NULL;
    other.seed = 17;
    if (k->from_any_order)
        add_search(g, &other, digest, start);
}

/* A tight and a loose budget. Most sizes are multiples of the unit, so that some just fit.
 */
static void add_graph(uint64_t seed, const struct kind *k, char digest[65]) {
    struct rp_graph g;
    struct rp_plan plan, start;
    draw_graph(seed, k, &g);
    struct rp_solve_options o = {.addressed = seed % 3 != 0 && !k->without_addresses,
                                 .recompute = k->recompute,
                                 .reorder = k->reorder,
                                 .swap = k->swap,
                                 .host_bytes = seed % 5 == 4 ? 9000 : RP_MAX_QUANTITY,
                                 .time_limit = k->time_limit,
                                 .ignore_clock = true,
                                 .seed = seed};
    uint64_t all = rp_keep_all_bytes(&g, o.addressed), unit = o.addressed ? 512 : 500;
    for (uint64_t percent = 30 + seed * 13 % 30; percent < 100; percent += 35) {
        o.budget_bytes =
            g.fixed_bytes + (all - g.fixed_bytes) * percent / 100 / unit * unit;
        make_start(&g, k, &o, digest, &start);
        o.start = start.steps.n > 0 ? &start : NULL;
        add_search(&g, &o, digest, &plan);
        rp_plan_fini(&plan);
        rp_plan_fini(&start);
    }
    rp_graph_fini(&g);
}

static void compare(const char *digest, const char *expected) {
    bool same = strncmp(digest, expected, 16) == 0;
    if (!rp_gen_one_seed() && !same)
        printf("\"%.16s\" was \"%s\"\n", digest, expected);
    CU_ASSERT(rp_gen_one_seed() || same);
}

static void check(const struct kind *k, const char *expected) {
    char digest[65] = "";
    uint32_t n = k->n_graphs;
    for (uint64_t seed = rp_gen_seed(1 + k->seeds_before, &n); n > 0; n--, seed++)
        add_graph(seed, k, digest);
    compare(digest, expected);
}

static void searches_that_recompute(void) {
    check(&(struct kind){74, 5, 45, 0.02, .recompute = true}, "7df13f6d71b8ef0a");
}

static void searches_that_small_and_swap(void) {
    check(&(struct kind){80, 4, 14, 0.01, .recompute = true, .swap = true},
          "f22ca2015a2a6828");
}

static void searches_that_swap(void) {
    check(&(struct kind){16, 5, 45, 0.02, .swap = true}, "f5e050ed7ab85805");
}

static void searches_that_recompute_and_swap(void) {
    check(&(struct kind){16, 5, 45, 0.02, .recompute = true, .swap = true},
          "eb47996afeecc8ac");
}

static void searches_that_reorder(void) {
    check(&(struct kind){24, 5, 45, 0.03, .recompute = true, .reorder = true},
          "53193969f431b944");
}

static void searches_that_reorder_and_swap(void) {
    check(&(struct kind){16, 5, 45, 0.02, .recompute = true, .swap = true, .reorder = true},
          "db1310c9c1f60270");
}

static void searches_that_choose_homes(void) {
    check(&(struct kind){30, 5, 60, 0.01, .recompute = true, .swap = true, .homes = true},
          "8012fc9964c50ae9");
}

static void searches_that_choose_homes_alone(void) {
    check(&(struct kind){16, 5, 60, 0.01, .swap = true, .homes = true}, "42ca909603c72213");
}

static void searches_that_choose_homes_and_reorder(void) {
    check(&(struct kind){16, 5, 45, 0.02, .recompute = true, .swap = true, .reorder = true,
                         .homes = true},
          "bc2fd0cdf82a21c6");
}

static void searches_that_begin_with_keep_all(void) {
    check(&(struct kind){8, 5, 30, 0.02, .recompute = true, .swap = true,
                         .from_keep_all = true},
          "7215dac0d0d33f22");
}

static void searches_that_begin_in_another_order(void) {
    check(&(struct kind){12, 5, 30, 0.02, .recompute = true, .reorder = true,
                         .from_any_order = true},
          "dc20ab224cdc7260");
}

static void searches_that_begin_with_homes_in_another_order(void) {
    check(&(struct kind){10, 5, 30, 0.02, .recompute = true, .swap = true, .reorder = true,
                         .homes = true, .from_any_order = true},
          "f5875e88bc3f8e81");
}

static void searches_that_come_to_crossover(void) {
    check(&(struct kind){1, 62, 62, 2, .recompute = true, .reorder = true,
                         .without_addresses = true},
          "751aaf40e3b8a974");
}

static void searches_that_have_long_turns(void) {
    check(&(struct kind){1, 90, 90, 0.5, .seeds_before = 5, .recompute = true,
                         .without_addresses = true},
          "236dd6352ec47d0f");
}

static void searches_that_have_long_turns_without_methods(void) {
    check(&(struct kind){2, 150, 150, 0.7, .swap = true, .homes = true,
                         .without_addresses = true},
          "1432cf995399184a");
}

/* ---- copies ahead of time ---- */

static void add_schedule(const struct rp_instance *p, const struct rp_schedule *s,
                         char digest[65]) {
    struct rp_plan plan = {0};
    rp_schedule_steps(p, s, NULL, &plan);
    char *steps = rp_steps_text(p->graph, &plan);
    if (rp_gen_one_seed())
        puts(steps);
    rp_digest_add(digest, steps);
    free(steps);
    rp_plan_fini(&plan);
}

/* From one where all is on the host, on a device of this size. */
static void add_copies(const struct rp_graph *g, uint64_t budget, bool early,
                       char digest[65]) {
    struct rp_instance p;
    struct rp_schedule s;
    rp_instance_init_homes(&p, g, budget, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_empty(&p, &s);
    rp_schedule_offload_all(&p, early, &s);
    struct rp_cost cost = rp_schedule_cost(&p, &s);
    if (cost.sound) {
        rp_schedule_prefetch(&p, NULL, &s);
        add_schedule(&p, &s, digest);
        rp_schedule_trim(&p, NULL, &s);
        add_schedule(&p, &s, digest);
        cost = rp_schedule_cost(&p, &s);
        rp_schedule_keep_sources(&p, NULL, &s, &cost);
        add_schedule(&p, &s, digest);
    }
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
}

static void schedules_that_copy_ahead(void) {
    char digest[65] = "";
    uint32_t n = 400;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_graph g;
        uint32_t n_ops = 4 + (uint32_t)seed % 20;
        if (seed % 2 == 0)
            rp_gen_host_graph(seed, n_ops, &g);
        else
            draw_many_sources(seed, n_ops, &g);
        if (seed % 3 == 0) /* copies of nothing take no time */
            g.device.copy_latency_ns = 0;
        uint64_t all = rp_keep_all_bytes(&g, false);
        for (uint64_t share = 4; share <= 8; share++)
            add_copies(&g, all * share / 8 / 500 * 500, seed % 5 < 2, digest);
        rp_graph_fini(&g);
    }
    compare(digest, "962e3168698c3d6f");
}

void suite_same_searches(void) {
    RP_SUITE("same_searches");
    RP_TEST(schedules_that_copy_ahead);
    RP_TEST(searches_that_recompute);
    RP_TEST(searches_that_small_and_swap);
    RP_TEST(searches_that_swap);
    RP_TEST(searches_that_recompute_and_swap);
    RP_TEST(searches_that_reorder);
    RP_TEST(searches_that_reorder_and_swap);
    RP_TEST(searches_that_choose_homes);
    RP_TEST(searches_that_choose_homes_alone);
    RP_TEST(searches_that_choose_homes_and_reorder);
    RP_TEST(searches_that_begin_with_keep_all);
    RP_TEST(searches_that_begin_in_another_order);
    RP_TEST(searches_that_begin_with_homes_in_another_order);
    RP_TEST(searches_that_come_to_crossover);
    RP_TEST(searches_that_have_long_turns);
    RP_TEST(searches_that_have_long_turns_without_methods);
}
