/* Tests of A*, compared with brute force over all step sequences. Plans are checked by
 * verify and by the naive checker. */
#include "solve/exhaustive/astar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "brute_copies.h"
#include "gen.h"
#include "run.h"
#include "solve/core/plan_claims.h"
#include "solve/core/schedule.h"
#include "solve/exhaustive/astar_problem.h"
#include "solve/exhaustive/astar_search.h"
#include "sums.h"
#include "verify/verifier.h"

/* A tiny graph and what a plan for it may do. */
struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_brute_copies o;
};

/* Copies and runs take multiples of 10 ns, so that they often end at the same time. */
static void make_ties(struct rp_graph *g) {
    g->fixed_bytes = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        g->tensors[x].bytes = g->tensors[x].bytes / 500 * 10;
        g->fixed_bytes += g->tensors[x].producer == RP_NONE ? g->tensors[x].bytes : 0;
    }
    g->device.h2d_bytes_per_s = g->device.d2h_bytes_per_s = 1000000000u;
    g->device.copy_latency_ns = 0;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(g, "ties", &err), RP_OK);
}

static void task_init(struct task *t, uint64_t seed, uint32_t n_ops) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    uint32_t op;
    shape.max_outputs = 1 + (uint32_t)(seed / 7 % 2);
    shape.training = seed % 3 != 0;
    shape.once_percent = seed % 5 == 0 ? 20 : 0;
    shape.rules_percent = n_ops < 8 && seed % 2 ? 15 : 0;
    shape.n_sources = seed % 4; /* without sources the lists end exactly, so a sanitizer
                                   sees reads beyond them */
    rp_gen_graph(seed, &shape, &t->g);
    t->g.device.h2d_bytes_per_s = 1000000000u * (1 + seed * 37 % 200);
    t->g.device.d2h_bytes_per_s = 1000000000u * (1 + seed * 53 % 200);
    if (seed % 4 == 1)
        make_ties(&t->g);
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes, false, NULL);
    rp_instance_allow_swap(&t->p, RP_MAX_QUANTITY);
    t->p.limit_bytes = rp_instance_floor(&t->p, &op) + seed % 4 * 500;
    t->p.host_limit_bytes = seed % 6 == 0   ? 1500
                            : seed % 6 == 1 ? t->p.bytes[0]
                                            : RP_MAX_QUANTITY;
    t->o = (struct rp_brute_copies){.limit_bytes = t->p.limit_bytes,
                                    .host_limit_bytes = t->p.host_limit_bytes,
                                    .recompute = seed % 11 != 0,
                                    .swap = true,
                                    .max_states = 200000};
    if (!t->o.recompute)
        rp_instance_run_once(&t->p);
}

static void task_fini(struct task *t) {
    rp_instance_fini(&t->p);
    rp_graph_fini(&t->g);
}

enum { MAX_STATES = 100000, NO_LIMIT_OF_WORK = 1000000000 };

static struct rp_astar_result search_with(const struct rp_instance *p,
                                          const struct rp_astar_options *o,
                                          uint32_t max_states, struct rp_plan *plan) {
    struct rp_astar *a = rp_astar_new(p, max_states, (double)o->max_work);
    struct rp_astar_result r = *rp_astar_search(a, o, plan);
    rp_astar_free(a);
    return r;
}

static void search(const struct rp_instance *p, uint64_t below_ns, uint64_t max_work,
                   struct rp_stop *stop, struct rp_astar_result *r, struct rp_plan *plan) {
    struct rp_astar_options o = {below_ns, UINT64_MAX, max_work, stop, NULL};
    *r = search_with(p, &o, MAX_STATES, plan);
}

static bool found(const struct rp_astar_result *r) {
    return r->plan_ns < UINT64_MAX;
}

/* The result of brute force, if the graph is small enough for it. */
static enum rp_brute_result brute_force(const struct task *t, uint64_t *best) {
    if (rp_gen_movable(&t->g) > RP_BRUTE_COPIED)
        return RP_BRUTE_GAVE_UP;
    return rp_brute_copies_best(&t->g, &t->o, best);
}

static bool verify_accepts(const struct task *t, struct rp_plan *plan, uint64_t best) {
    struct rp_verdict v;
    struct rp_err err = {{0}};
    plan->graph_name = rp_strdup(t->g.name);
    plan->graph_sha256 = rp_strdup(t->g.sha256);
    plan->budget_bytes = t->p.fixed_bytes + t->p.limit_bytes;
    return rp_plan_fill_claims(&t->g, plan, &err) == RP_OK &&
           plan->claims.time_ns == best && plan->host_bytes <= t->p.host_limit_bytes &&
           rp_verify(&t->g, plan, &v, &err) == RP_OK;
}

/* A search that is cut off gives a valid bound, and a plan if it has found one. */
static bool is_sound(const struct task *t, uint64_t below_ns, uint32_t max_states,
                     uint64_t max_work, uint64_t best) {
    struct rp_astar_options o = {below_ns, UINT64_MAX, max_work, NULL, NULL};
    struct rp_plan plan = {0};
    struct rp_astar_result r = search_with(&t->p, &o, max_states, &plan);
    bool ok =
        r.bound_ns <= best && (found(&r) ? r.plan_ns >= best && r.plan_ns < below_ns &&
                                               verify_accepts(t, &plan, r.plan_ns)
                                         : plan.steps.n == 0);
    ok = ok && (!rp_astar_is_complete(&o, &r) || r.plan_ns == best || below_ns <= best);
    rp_plan_fini(&plan);
    return ok;
}

/* The search finds the best plan and proves that none is better. With less work it looks
 * at windows, and at columns. */
static bool agrees_with_brute_force(const struct task *t, enum rp_brute_result known,
                                    uint64_t best) {
    uint64_t never = RP_MAX_QUANTITY / 8;
    struct rp_astar_result r;
    struct rp_plan plan = {0};
    search(&t->p, never, NO_LIMIT_OF_WORK, NULL, &r, &plan);
    bool ok = found(&r) == (known == RP_BRUTE_FOUND);
    if (found(&r) && ok) {
        uint64_t work = r.work;
        ok = r.bound_ns == best && verify_accepts(t, &plan, best);
        rp_plan_fini(&plan);
        search(&t->p, best, NO_LIMIT_OF_WORK, NULL, &r, &plan);
        ok = ok && !found(&r) && r.bound_ns == best;
        for (uint64_t more = 1; more <= 5 && ok; more++)
            ok = is_sound(t, best + 1, MAX_STATES, more * work, best) &&
                 is_sound(t, never, MAX_STATES, more * work, best);
        for (uint32_t limit = rp_astar_count_homes(&t->p); limit < 400 && ok; limit *= 3)
            ok = is_sound(t, best + 1, MAX_STATES, 175 * limit, best) &&
                 is_sound(t, never, limit, NO_LIMIT_OF_WORK, best);
    }
    rp_plan_fini(&plan);
    return ok;
}

/* Compares with brute force on n random graphs. Returns for how many there is a plan. */
static uint32_t compare_with_brute_force(uint32_t *n, uint32_t n_ops, uint32_t more_ops,
                                         void (*change)(struct task *, uint64_t)) {
    uint32_t n_found = 0;
    uint64_t first = rp_gen_seed(1, n);
    for (uint64_t seed = first; seed < first + *n; seed++) {
        struct task t;
        uint64_t best = 0;
        task_init(&t, seed, n_ops + (uint32_t)(seed % 2) * more_ops);
        if (change != NULL)
            change(&t, seed);
        enum rp_brute_result known = brute_force(&t, &best);
        n_found += known == RP_BRUTE_FOUND;
        if (known != RP_BRUTE_GAVE_UP && !agrees_with_brute_force(&t, known, best)) {
            rp_gen_failed(seed);
            CU_FAIL("not the best plan, or a bound above it");
        }
        task_fini(&t);
    }
    return n_found;
}

static void the_best_step_sequence_is_found_and_proved(void) {
    uint32_t n = 160, n_found = compare_with_brute_force(&n, 5, 1, NULL);
    CU_ASSERT(rp_gen_one_seed() || 2 * n_found > n);
}

/* Half of the tensors are so small that A* takes them for nothing at first. The limit is
 * what large ones take, or a little more. */
static void make_small(struct task *t, uint64_t seed) {
    struct rp_err err = {{0}};
    uint32_t op;
    t->g.fixed_bytes = 0;
    for (uint32_t x = 0; x < t->g.n_tensors; x++) {
        t->g.tensors[x].bytes = x % 2 == seed / 3 % 2 ? 3200 : 40 + 10 * (x % 3);
        t->g.fixed_bytes += t->g.tensors[x].producer == RP_NONE ? t->g.tensors[x].bytes : 0;
    }
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(&t->g, "small", &err), RP_OK);
    rp_instance_fini(&t->p);
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes, false, NULL);
    rp_instance_allow_swap(&t->p, RP_MAX_QUANTITY);
    t->p.limit_bytes =
        rp_max_u64(rp_instance_floor(&t->p, &op), 3200 * (2 + seed % 2)) + 60 * (seed % 4);
    t->o.limit_bytes = t->p.limit_bytes;
    t->o.host_limit_bytes = t->p.host_limit_bytes;
    t->o.recompute = true;
}

/* Sources may live on the host, which often has no room for all of them. */
static void choose_homes(struct task *t, uint64_t seed) {
    uint32_t op;
    uint64_t host_bytes = 0;
    task_fini(t);
    rp_gen_host_graph(seed, 4 + (uint32_t)(seed % 2), &t->g);
    rp_instance_init_homes(&t->p, &t->g, RP_MAX_QUANTITY / 2, false, NULL);
    for (uint32_t x = 0; x < t->p.n_homes; x++)
        host_bytes += t->p.bytes[x];
    rp_instance_allow_swap(&t->p, seed % 3 == 0 ? host_bytes / 4 * 3 : RP_MAX_QUANTITY);
    t->p.limit_bytes = rp_instance_floor(&t->p, &op) + seed % 4 * 1000;
    t->o = (struct rp_brute_copies){.limit_bytes = t->p.limit_bytes + t->p.fixed_bytes -
                                                   t->g.fixed_bytes,
                                    .host_limit_bytes = t->p.host_limit_bytes,
                                    .recompute = true,
                                    .swap = true,
                                    .max_states = 20000};
}

static void sources_live_where_they_had_best(void) {
    uint32_t n = 100, n_found = compare_with_brute_force(&n, 4, 1, choose_homes);
    CU_ASSERT(rp_gen_one_seed() || 5 * n_found > 2 * n);
}

static void small_tensors_count_too(void) {
    uint32_t n = 120, n_found = compare_with_brute_force(&n, 6, 0, make_small);
    CU_ASSERT(rp_gen_one_seed() || 5 * n_found > 2 * n);
}

/* What the searches below count, in total: the first ones without windows, then with them.
 * A weaker bound, an equal state that is not recognized, or a kind of step that is never
 * tried changes the states and may change nothing else. */
static const struct rp_astar_statistics without_windows = {2337, 1306, 1203, 27},
                                        with_windows = {30362, 14767, 50132, 1060};

static uint64_t search_all(uint32_t n, uint32_t n_ops, uint64_t max_work,
                           struct rp_astar_statistics *sum) {
    uint64_t n_found = 0;
    for (uint64_t seed = 1; seed <= n; seed++) {
        struct task t;
        struct rp_astar_result r;
        struct rp_plan plan = {0};
        task_init(&t, seed, n_ops);
        if (rp_astar_accepts(&t.p)) {
            search(&t.p, RP_MAX_QUANTITY / 8, max_work, NULL, &r, &plan);
            sum->states_added += r.statistics.states_added;
            sum->expanded += r.statistics.expanded;
            sum->dominated += r.statistics.dominated;
            sum->pruned_by_bound += r.statistics.pruned_by_bound;
            n_found += found(&r) && verify_accepts(&t, &plan, r.plan_ns);
        }
        rp_plan_fini(&plan);
        task_fini(&t);
    }
    return n_found;
}

static void check_statistics(const struct rp_astar_statistics *got,
                             const struct rp_astar_statistics *want) {
    CU_ASSERT_EQUAL(got->states_added, want->states_added);
    CU_ASSERT_EQUAL(got->expanded, want->expanded);
    CU_ASSERT_EQUAL(got->dominated, want->dominated);
    CU_ASSERT_EQUAL(got->pruned_by_bound, want->pruned_by_bound);
}

static void larger_searches_visit_no_more_states_than_before(void) {
    struct rp_astar_statistics easy = {0}, hard = {0};
    CU_ASSERT(search_all(40, 8, 10000000, &easy) >= 30);
    check_statistics(&easy, &without_windows);
    CU_ASSERT(search_all(20, 13, 2000000, &hard) >= 10);
    check_statistics(&hard, &with_windows);
}

/* Slow links and many tensors: states differ in when their copies end, and few dominate
 * others. */
static void hard_task_init(struct task *t, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(14);
    shape.max_outputs = 2;
    shape.max_inputs = 4;
    shape.max_time_ns = 1000;
    shape.reach = 6;
    shape.bandwidths = true;
    shape.once_percent = shape.workspace_percent = 0;
    shape.training = false;
    shape.n_sources = 0;
    rp_gen_graph(seed, &shape, &t->g);
    for (uint32_t x = 0; x < t->g.n_tensors; x++)
        t->g.tensors[x].bytes = 100 * (1 + t->g.tensors[x].bytes % 5);
    t->g.device.h2d_bytes_per_s = t->g.device.d2h_bytes_per_s = 500000000u;
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes, false, NULL);
    rp_instance_allow_swap(&t->p, RP_MAX_QUANTITY);
    t->p.limit_bytes = rp_instance_floor(&t->p, &(uint32_t){0}) + 200;
}

enum { HARD_WORK = 10000000 };

static void search_hard_task(uint64_t max_work, struct rp_stop *stop,
                             struct rp_astar_result *r) {
    struct task t;
    struct rp_plan plan = {0};
    hard_task_init(&t, 38);
    CU_ASSERT_FATAL(rp_astar_accepts(&t.p));
    search(&t.p, RP_MAX_QUANTITY / 8, max_work, stop, r, &plan);
    rp_plan_fini(&plan);
    task_fini(&t);
}

/* N ops make tensors of equal size, one op leaves room for half of them, and the last one
 * reads all. So there are billions of sets that may be freed. */
static void parse_halves(uint32_t n, struct rp_graph *g) {
    struct rp_err err = {{0}};
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fprintf(f, "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"halves\","
               "\"time_source\":\"imported:hand\",\"tensors\":[");
    for (uint32_t k = 0; k < n; k++)
        fprintf(f, "{\"name\":\"x%u\",\"bytes\":1024,\"kind\":\"activation\"},", k);
    fprintf(f,
            "{\"name\":\"o\",\"bytes\":0,\"kind\":\"activation\"}],\"keep\":[%u],"
            "\"ops\":[",
            n);
    for (uint32_t k = 0; k < n; k++)
        fprintf(f,
                "{\"name\":\"op%u\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[%u],"
                "\"time_ns\":10},",
                k, k);
    fprintf(f,
            "{\"name\":\"w\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[],\"time_ns\":10,"
            "\"workspace_bytes\":%u,\"recompute\":false},"
            "{\"name\":\"f\",\"kind\":\"k\",\"outputs\":[%u],\"time_ns\":10,\"inputs\":[0",
            n / 2 * 1024, n);
    for (uint32_t k = 1; k < n; k++)
        fprintf(f, ",%u", k);
    fprintf(f, "]}]}");
    CU_ASSERT_EQUAL_FATAL(fclose(f), 0);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, len, "halves", g, &err), RP_OK);
    free(text);
}

/* Also where it adds no states, since all are too slow. */
static void a_search_ends_within_its_work(void) {
    enum { N = 40, WORK = 2000000, NS_PER_WORK = 4 };
    struct rp_graph g;
    struct rp_instance p;
    struct rp_plan plan = {0};
    struct rp_astar_result r;
    struct rp_stop stop = {.deadline = INFINITY};
    parse_halves(N, &g);
    rp_instance_init(&p, &g, (uint64_t)N * 1024, false, NULL);
    search(&p, g.total_time_ns + N / 2 * 10 - 40, WORK, &stop, &r, &plan);
    CU_ASSERT(!found(&r) && r.statistics.states_added < 1000);
    CU_ASSERT(r.statistics.pruned_by_bound > 1000);
    CU_ASSERT(r.work >= WORK && r.work < WORK + WORK / 10);
    /* Windows and the whole step, with up to two questions more for each. */
    CU_ASSERT(stop.questions > 5);
    CU_ASSERT(stop.questions <= r.work * NS_PER_WORK / RP_STOP_WORK + 2 * (N + 3));
    rp_plan_fini(&plan);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* However early the search is stopped, it ends at that question, with a lower bound. */
static void a_stopped_search_gives_a_weaker_bound(void) {
    struct rp_astar_result all;
    uint64_t last = 0;
    search_hard_task(HARD_WORK, NULL, &all);
    for (uint64_t k = 1; k <= 16; k *= 2) {
        struct rp_astar_result r;
        struct rp_stop stop = {.deadline = INFINITY, .max_questions = k};
        search_hard_task(HARD_WORK, &stop, &r);
        CU_ASSERT(!found(&r) && stop.questions == k && stop.hit);
        CU_ASSERT(r.bound_ns >= last && r.bound_ns <= all.bound_ns);
        last = r.bound_ns;
    }
}

/* Each search that has begun, of windows and of the step, adds its first states only. */
static void a_search_ends_when_its_bound_is_proved_elsewhere(void) {
    struct task t;
    struct rp_plan plan = {0};
    struct rp_astar_result all, r;
    hard_task_init(&t, 38);
    search(&t.p, RP_MAX_QUANTITY / 8, HARD_WORK, NULL, &all, &plan);
    for (uint64_t less = 0; less < 2; less++) {
        uint64_t proved_ns = RP_MAX_QUANTITY / 8 - less;
        struct rp_astar_options o = {RP_MAX_QUANTITY / 8, UINT64_MAX, HARD_WORK, NULL,
                                     &proved_ns};
        r = search_with(&t.p, &o, MAX_STATES, &plan);
        CU_ASSERT(r.bound_ns <= all.bound_ns && found(&r) == (less > 0 && found(&all)));
        CU_ASSERT_EQUAL(r.statistics.expanded, less == 0 ? 0 : all.statistics.expanded);
    }
    rp_plan_fini(&plan);
    task_fini(&t);
}

/* P and Q make x and y, W needs all memory, and F reads both. Q's window begins with x on
 * the host. It copies y out, and both back in, though all plans that do have less room on
 * the host. */
static void a_window_begins_with_all_that_was_made(void) {
    enum { OP_NS = 1000, COPY_NS = 50, SHORT_NS = 100 };
    static const char text[] =
        "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"window\",\"time_source\":"
        "\"imported:hand\",\"device\":{\"name\":\"d\",\"h2d_bytes_per_s\":20480000000,"
        "\"d2h_bytes_per_s\":20480000000},\"tensors\":["
        "{\"name\":\"x\",\"bytes\":1024,\"kind\":\"activation\"},"
        "{\"name\":\"y\",\"bytes\":1024,\"kind\":\"activation\"},"
        "{\"name\":\"o\",\"bytes\":0,\"kind\":\"activation\"}],\"keep\":[2],\"ops\":["
        "{\"name\":\"p\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[0],\"time_ns\":1000},"
        "{\"name\":\"q\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[1],\"time_ns\":1000},"
        "{\"name\":\"w\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[],\"time_ns\":100,"
        "\"workspace_bytes\":2048,\"recompute\":false},"
        "{\"name\":\"f\",\"kind\":\"k\",\"inputs\":[0,1],\"outputs\":[2],\"time_ns\":100}"
        "]}";
    struct rp_graph g;
    struct rp_instance p;
    struct rp_astar_problem q;
    struct rp_astar_search f;
    struct rp_astar_result r = {0};
    struct rp_err err = {{0}};
    uint64_t window_ns = OP_NS + COPY_NS + SHORT_NS + 2 * COPY_NS + SHORT_NS;
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, strlen(text), "window", &g, &err), RP_OK);
    rp_instance_init(&p, &g, 2048, false, NULL);
    CU_ASSERT_FATAL(rp_instance_allow_swap(&p, 1024));
    rp_astar_problem_init(&q, &p, 0);
    for (uint64_t more = 0; more < 2; more++) {
        struct rp_astar_options o = {OP_NS + window_ns + more, UINT64_MAX, 0, NULL, NULL};
        rp_astar_search_window(&f, &q, &o, 2, HARD_WORK, &r);
        CU_ASSERT_EQUAL(f.bound_ns, window_ns);
        CU_ASSERT_EQUAL(f.below_ns, window_ns);
        CU_ASSERT_EQUAL(f.best != RP_NONE, more > 0);
        rp_astar_search_fini(&f);
    }
    struct rp_astar_options too_little = {q.remaining_ns[0], UINT64_MAX, 0, NULL, NULL};
    rp_astar_search_window(&f, &q, &too_little, 2, HARD_WORK, &r);
    CU_ASSERT(f.bound_ns == q.remaining_ns[1] && f.k.n_nodes == 0);
    rp_astar_search_fini(&f);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* Within work that does not suffice for the best first search, columns lead to a plan. What
 * they leave open bounds the time, wherever they end. */
static void a_column_search_finds_plans_early(void) {
    static const double shares[] = {0, 0.5, 2};
    enum { WORK = HARD_WORK / 16 };
    struct task t;
    struct rp_astar_problem q;
    struct rp_astar_search f;
    struct rp_astar_options o = {RP_MAX_QUANTITY / 8, UINT64_MAX, 0, NULL, NULL};
    struct rp_astar_result all, r = {0};
    hard_task_init(&t, 38);
    search_hard_task(HARD_WORK, NULL, &all);
    rp_astar_problem_init(&q, &t.p, 0);
    for (int i = 0; i < 3; i++) {
        rp_astar_search_begin(&f, &q, MAX_STATES);
        rp_astar_search_go_on(&f, &o, i < 2 ? WORK : WORK / 4, shares[i], &r);
        CU_ASSERT_EQUAL(f.best != RP_NONE, i == 1);
        CU_ASSERT(f.bound_ns >= q.remaining_ns[0] && f.bound_ns <= all.bound_ns);
        CU_ASSERT(f.below_ns >= all.bound_ns);
        rp_astar_search_fini(&f);
    }
    task_fini(&t);
}

/* Many calls with little work each end where one with much does. The bound never falls, the
 * best plan never gets slower, and nothing is left of what it was before. */
static void a_search_goes_on_where_it_ended(void) {
    struct task t;
    struct rp_plan plan = {0};
    struct rp_astar_result all, last = {.plan_ns = UINT64_MAX};
    hard_task_init(&t, 38);
    search(&t.p, RP_MAX_QUANTITY / 8, 10 * HARD_WORK, NULL, &all, &plan);
    rp_plan_fini(&plan);
    CU_ASSERT_EQUAL(all.plan_ns, all.bound_ns);
    rp_append_step(&t.p, &plan, RP_RUN, 0);
    struct rp_astar *a = rp_astar_new(&t.p, MAX_STATES, HARD_WORK);
    struct rp_astar_options o = {RP_MAX_QUANTITY / 8, UINT64_MAX, HARD_WORK / 2000, NULL,
                                 NULL};
    for (int calls = 0; calls < 20000 && !rp_astar_is_complete(&o, &last); calls++) {
        const struct rp_astar_result *r = rp_astar_search(a, &o, &plan);
        CU_ASSERT(r->bound_ns >= last.bound_ns && r->bound_ns <= all.bound_ns);
        CU_ASSERT(r->plan_ns <= last.plan_ns && r->plan_ns >= all.bound_ns);
        CU_ASSERT(r->work > last.work && r->work < last.work + HARD_WORK / 5);
        if (r->plan_ns < last.plan_ns) {
            free(plan.graph_name);
            free(plan.graph_sha256);
            CU_ASSERT(verify_accepts(&t, &plan, r->plan_ns));
            o.below_ns = r->plan_ns;
        }
        last = *r;
    }
    CU_ASSERT_EQUAL(last.bound_ns, all.bound_ns);
    rp_astar_free(a);
    rp_plan_fini(&plan);
    task_fini(&t);
}

/* The first state's bound is the sum of all first runs. If that is enough, no state is
 * expanded; if it lacks 1 ns, some are. */
static void a_search_ends_when_its_bound_is_high_enough(void) {
    struct task t;
    struct rp_plan plan = {0};
    hard_task_init(&t, 38);
    for (uint64_t more = 0; more < 2; more++) {
        struct rp_astar_options o = {RP_MAX_QUANTITY / 8, t.g.total_time_ns + more,
                                     HARD_WORK, NULL, NULL};
        struct rp_astar_result r = search_with(&t.p, &o, MAX_STATES, &plan);
        CU_ASSERT(r.bound_ns >= o.enough_ns);
        CU_ASSERT_EQUAL(r.statistics.expanded > 0, more > 0);
    }
    rp_plan_fini(&plan);
    task_fini(&t);
}

static void graphs_up_to_the_stated_size_are_accepted(void) {
    struct rp_instance p = {.n_tensors = RP_ASTAR_MAX_TENSORS, .n_ops = RP_ASTAR_MAX_OPS};
    CU_ASSERT(rp_astar_accepts(&p));
    p.n_tensors++;
    CU_ASSERT_FALSE(rp_astar_accepts(&p));
    p.n_tensors--;
    p.n_ops++;
    CU_ASSERT_FALSE(rp_astar_accepts(&p));
}

void suite_astar(void) {
    RP_SUITE("astar");
    RP_TEST(graphs_up_to_the_stated_size_are_accepted);
    RP_TEST(larger_searches_visit_no_more_states_than_before);
    RP_TEST(a_search_ends_within_its_work);
    RP_TEST(a_stopped_search_gives_a_weaker_bound);
    RP_TEST(a_search_ends_when_its_bound_is_proved_elsewhere);
    RP_TEST(a_search_ends_when_its_bound_is_high_enough);
    RP_TEST(a_window_begins_with_all_that_was_made);
    RP_TEST(a_column_search_finds_plans_early);
    RP_TEST(a_search_goes_on_where_it_ended);
    RP_TEST(the_best_step_sequence_is_found_and_proved);
    RP_TEST(small_tensors_count_too);
    RP_TEST(sources_live_where_they_had_best);
}
