/* Tests of the restricted programs around a schedule, and of the search over them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "gen.h"
#include "run.h"
#include "solve/core/params.h"
#include "solve/lns/large_neighborhood.h"
#include "solve/lns/neighborhood.h"
#include "solve/local/anneal.h"
#include "solve/mip/sub_mip.h"
#include "solve/solver.h"
#include "sums.h"

enum { WORK = 500000 };

static bool never(void *arg) {
    (void)arg;
    return false;
}

static bool never_anneal(void *arg, double best_ns) {
    (void)arg;
    (void)best_ns;
    return false;
}

/* A random training graph at 60% of its activations, and where a short annealing run from
 * keep-all ends. */
struct start {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    bool found;
    uint64_t time_ns;
};

static void make_start(uint64_t seed, uint32_t n_ops, struct start *c) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    struct rp_anneal_options o = {.seed = seed,
                                  .work = 350 * (uint64_t)n_ops,
                                  .initial_temperature = 1,
                                  .stop = never_anneal};
    struct rp_anneal_result r;
    *c = (struct start){0};
    shape.training = true;
    shape.bandwidths = false;
    rp_gen_graph(seed, &shape, &c->g);
    uint64_t all = rp_keep_all_bytes(&c->g, false), fixed = c->g.fixed_bytes;
    rp_instance_init(&c->p, &c->g, fixed + (all - fixed) / 10 * 6, false, NULL);
    rp_schedule_keep_all(&c->p, &c->s);
    rp_anneal(&c->p, &o, &c->s, &r);
    struct rp_cost cost = rp_schedule_cost(&c->p, &c->s);
    c->found = r.found && cost.sound && cost.peak_bytes <= c->p.limit_bytes;
    c->time_ns = cost.time_ns;
}

static void free_start(struct start *c) {
    rp_schedule_fini(&c->s);
    rp_instance_fini(&c->p);
    rp_graph_fini(&c->g);
}

static bool fits(const struct start *c, uint64_t time_ns) {
    struct rp_cost cost = rp_schedule_cost(&c->p, &c->s);
    return cost.sound && cost.peak_bytes <= c->p.limit_bytes && cost.time_ns == time_ns;
}

/* The optimum, by branch and cut over all columns. */
static uint64_t optimum(const struct start *c) {
    struct rp_branch_cut *bc = rp_branch_cut_new(&c->p, &(struct rp_branch_cut_options){0});
    struct rp_branch_cut_state state;
    rp_branch_cut_offer(bc, &c->s);
    CU_ASSERT_EQUAL(rp_branch_cut_run(bc, WORK, &state), RP_BRANCH_CUT_OPTIMAL);
    rp_branch_cut_free(bc);
    return state.time_ns;
}

/* The restricted program of all ops around c->s. */
static struct rp_sub_mip open_program(const struct start *c, uint32_t depth,
                                      struct rp_neighborhood *n) {
    rp_neighborhood_init(n, &c->p);
    memset(n->chosen, true, n->turn * sizeof *n->chosen);
    CU_ASSERT(rp_neighborhood_open(n, &c->s, depth));
    return (struct rp_sub_mip){
        .base = &n->base, .known = n->known, .work = WORK, .stop = never};
}

/* Solves that program. Returns the time of c->s. */
static uint64_t solve_depth(struct start *c, uint32_t depth) {
    struct rp_neighborhood n;
    struct rp_sub_mip m = open_program(c, depth, &n);
    struct rp_sub_mip_result r = rp_sub_mip_solve(&m, &c->s);
    CU_ASSERT(r.solved);
    uint64_t time_ns = r.improved ? r.time_ns : c->time_ns;
    CU_ASSERT(time_ns <= c->time_ns && fits(c, time_ns));
    rp_neighborhood_fini(&n);
    return time_ns;
}

/* What is open at a depth is open at every larger one too. Runs of the backward pass are
 * closed, so the optimum may be out of reach. */
static void deep_programs_reach_the_optimum(void) {
    uint32_t n = 40, found = 0, better = 0, optimal = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct start c;
        make_start(seed, 24, &c);
        if (c.found) {
            uint64_t best_ns = optimum(&c), start_ns = c.time_ns;
            for (uint32_t depth = 1; depth <= c.p.n_ops; depth *= 2)
                c.time_ns = solve_depth(&c, depth);
            if (c.time_ns < best_ns) {
                rp_gen_failed(seed);
                CU_FAIL("a restricted program is better than the optimum");
            }
            found++;
            better += c.time_ns < start_ns;
            optimal += c.time_ns == best_ns;
        }
        free_start(&c);
    }
    /* The values were 10, 9 and 8 when this was written. */
    CU_ASSERT((found > 8 && better > 6 && optimal > 6) || rp_gen_one_seed());
}

/* A program that is cut off again and again comes to the same end as in one go, and what it
 * costs before branch and cut is counted once. */
static void a_program_goes_on_where_it_was_cut_off(void) {
    struct start c;
    struct rp_neighborhood n;
    struct rp_sub_mip_rest rest = {0};
    make_start(3, 36, &c);
    struct rp_sub_mip m = open_program(&c, 3, &n);
    struct rp_schedule at_once = {0};
    rp_schedule_copy(&at_once, &c.s);
    struct rp_sub_mip_result whole = rp_sub_mip_solve(&m, &at_once), part = {0};
    CU_ASSERT(whole.solved && whole.improved);
    uint64_t work = 0, calls = 0, time_ns = 0;
    double seconds = 0;
    m.work = (whole.work - rp_sub_mip_least_work(&n.base)) / 8;
    m.rest = &rest;
    while (!part.solved && calls++ < 100) {
        part = rp_sub_mip_solve(&m, &c.s);
        seconds += part.seconds;
        CU_ASSERT_EQUAL(part.solved, rest.worker == NULL);
        CU_ASSERT(part.solved || fabs(seconds - rest.seconds) < 1e-6);
        time_ns = part.improved ? part.time_ns : time_ns;
        work += part.work;
    }
    CU_ASSERT(calls > 2 && part.solved);
    CU_ASSERT_EQUAL(time_ns, whole.time_ns);
    CU_ASSERT(fits(&c, time_ns));
    CU_ASSERT(work <= 2 * whole.work);
    rp_schedule_fini(&at_once);
    rp_neighborhood_fini(&n);
    free_start(&c);
}

/* Searches from c->s, and makes c->s the result. */
static void search(struct start *c, uint64_t work,
                   struct rp_large_neighborhood_statistics *stats) {
    struct rp_large_neighborhood state = {0};
    struct rp_large_neighborhood_options o = {.work = work, .seed = 1, .stop = never};
    struct rp_solution_pool pool = {0};
    rp_solution_pool_add(&pool, &c->s, c->time_ns);
    rp_large_neighborhood_search(&c->p, &o, &state, &pool, stats);
    CU_ASSERT_EQUAL(pool.n, 1); /* no ancestors */
    rp_schedule_copy(&c->s, &pool.at[0].s);
    c->time_ns = pool.at[0].time_ns;
    rp_large_neighborhood_fini(&state);
    rp_solution_pool_fini(&pool);
}

/* What is kept from one call of the search to the next. */
struct scene {
    struct start c;
    struct rp_large_neighborhood_options o;
    struct rp_large_neighborhood state;
    struct rp_large_neighborhood_statistics stats;
    struct rp_solution_pool pool;
};

static void open_scene_of(struct scene *w, uint32_t n_ops, uint64_t seed, uint64_t work) {
    *w = (struct scene){.o = {.work = work, .seed = 1, .stop = never}};
    make_start(seed, n_ops, &w->c);
}

static void open_scene(struct scene *w, uint64_t seed, uint64_t work) {
    open_scene_of(w, 36, seed, work);
}

static void close_scene(struct scene *w) {
    rp_large_neighborhood_fini(&w->state);
    rp_solution_pool_fini(&w->pool);
    free_start(&w->c);
}

static void add_start(struct scene *w) {
    rp_solution_pool_add(&w->pool, &w->c.s, w->c.time_ns);
}

static void search_on(struct scene *w) {
    rp_large_neighborhood_search(&w->c.p, &w->o, &w->state, &w->pool, &w->stats);
}

/* Annealing ends where no move of its own helps. */
static void the_search_leaves_local_optima_of_annealing(void) {
    uint32_t n = 6, better = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_large_neighborhood_statistics stats = {0};
        struct start c;
        make_start(seed, 36, &c);
        if (c.found) {
            uint64_t start_ns = c.time_ns;
            search(&c, WORK, &stats);
            CU_ASSERT(stats.tries > 0 && stats.solved <= stats.tries);
            CU_ASSERT(stats.improvements <= stats.tries && stats.work <= 2 * WORK);
            CU_ASSERT(stats.seconds > 0);
            CU_ASSERT(stats.descents > 0 && fits(&c, c.time_ns));
            CU_ASSERT((c.time_ns < start_ns) == (stats.improvements > 0));
            better += c.time_ns < start_ns;
        }
        free_start(&c);
    }
    CU_ASSERT(better > 1 || rp_gen_one_seed());
}

static void the_same_seed_gives_the_same_schedule(void) {
    struct rp_large_neighborhood_statistics stats[2] = {{0}, {0}};
    struct start c[2];
    for (int i = 0; i < 2; i++) {
        make_start(3, 36, &c[i]);
        search(&c[i], WORK, &stats[i]);
    }
    size_t bytes = ((size_t)c[0].s.n_stages + 1) * c[0].s.words * sizeof *c[0].s.rows;
    CU_ASSERT(stats[0].improvements > 0);
    CU_ASSERT_EQUAL(stats[0].work, stats[1].work);
    CU_ASSERT_EQUAL(stats[0].tries, stats[1].tries);
    CU_ASSERT_EQUAL(memcmp(c[0].s.rows, c[1].s.rows, bytes), 0);
    free_start(&c[0]);
    free_start(&c[1]);
}

/* Those that gain nothing are tried less often. The first one is from the optimum. */
static void descents_are_weighted_like_other_tries(void) {
    struct scene w;
    open_scene(&w, 3, WORK);
    search(&w.c, 4 * WORK, &w.stats);
    add_start(&w);
    search_on(&w);
    CU_ASSERT_EQUAL(w.pool.at[0].time_ns, w.c.time_ns);
    CU_ASSERT(w.state.kinds[0].weight > 0 && w.state.kinds[0].weight < 1);
    close_scene(&w);
}

/* Work that is too little for a try is left for the next call. */
static void little_work_is_saved_up(void) {
    struct scene w;
    uint32_t calls = 0;
    open_scene(&w, 3, 5000);
    add_start(&w);
    for (; w.stats.tries == 0 && calls < 1000; calls++)
        search_on(&w);
    CU_ASSERT(calls > 10 && w.stats.tries > 0);
    close_scene(&w);
}

/* Two starts of the same instance, and more work call by call. */
static void search_from_two_starts(struct scene *w) {
    add_start(w);
    search(&w->c, WORK / 4, &w->stats);
    add_start(w);
    for (w->o.work = 60000; w->o.work <= 240000; w->o.work *= 2)
        search_on(w);
}

/* The program of a descent waits over calls, finds what its first try did not, and is gone
 * once it is solved. */
static void a_descent_that_was_cut_off_goes_on(void) {
    struct scene w;
    const struct rp_cut_off_descent *cut_off = &w.state.cut_off;
    uint32_t calls = 0;
    open_scene_of(&w, 80, 3, 0);
    search_from_two_starts(&w);
    CU_ASSERT(cut_off->rest.worker != NULL && w.pool.at[0].time_ns < w.c.time_ns);
    CU_ASSERT_EQUAL(cut_off->time_ns, w.pool.at[0].time_ns);
    CU_ASSERT_EQUAL(cut_off->pause, 1);
    for (w.o.work = 20000; cut_off->rest.worker != NULL && calls < 1000; calls++)
        search_on(&w);
    CU_ASSERT(calls > 0 && calls < 1000);
    close_scene(&w);
}

static bool no_process_is_left(void) {
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/* A pool of the optimum, and the program of a depth around another start. It waits after
 * `work`, and finds nothing faster later. */
static void open_cut_off(struct scene *w, uint64_t seed, uint32_t depth, uint64_t work) {
    struct rp_neighborhood n;
    open_scene(w, seed, NEIGHBORHOOD_TRY_WORK_PER_OP * 36);
    struct rp_cut_off_descent *c = &w->state.cut_off;
    struct rp_schedule s = {0};
    *c = (struct rp_cut_off_descent){.depth = depth, .time_ns = w->c.time_ns, .pause = 1};
    struct rp_sub_mip m = open_program(&w->c, depth, &n);
    m.rest = &c->rest;
    m.work = work;
    rp_schedule_copy(&s, &w->c.s);
    CU_ASSERT_FALSE(rp_sub_mip_solve(&m, &s).solved);
    rp_schedule_fini(&s);
    rp_neighborhood_fini(&n);
    m = open_program(&w->c, w->c.p.n_ops, &n);
    m.work = 10 * WORK;
    w->c.time_ns = rp_sub_mip_solve(&m, &w->c.s).time_ns;
    rp_neighborhood_fini(&n);
    add_start(w);
}

static void nothing_was_found(const struct scene *w) {
    CU_ASSERT(w->stats.improvements == 0 && w->pool.n == 1);
    CU_ASSERT_EQUAL(w->pool.at[0].time_ns, w->c.time_ns);
}

/* It goes on after 1, 2, 4 ... steps without a gain. */
static void a_descent_that_gains_nothing_waits_longer(void) {
    struct scene w;
    const struct rp_cut_off_descent *c = &w.state.cut_off;
    open_cut_off(&w, 1, 5, NEIGHBORHOOD_TRY_WORK_PER_OP * 12);
    uint32_t pause = 1;
    for (uint32_t calls = 0; c->rest.worker != NULL && calls < 100; calls++) {
        search_on(&w);
        CU_ASSERT(c->pause == pause || c->pause == 2 * pause);
        pause = c->pause;
    }
    CU_ASSERT(pause >= 4 && c->rest.worker == NULL);
    nothing_was_found(&w);
    close_scene(&w);
    CU_ASSERT_TRUE(no_process_is_left());
}

/* The work is enough to solve the program that waits, and for no step after that. */
static void a_descent_that_went_on_comes_to_its_end(void) {
    struct scene w;
    open_cut_off(&w, 1, 1, 1);
    search_on(&w);
    CU_ASSERT(w.stats.tries == 1 && w.stats.solved == 1 && w.stats.descents == 0);
    CU_ASSERT(rp_recent_has(&w.state.descended_ns, w.c.time_ns));
    nothing_was_found(&w);
    close_scene(&w);
}

/* A search that ends takes the program that waits with it. */
static void no_program_outlives_the_search(void) {
    struct scene w;
    open_cut_off(&w, 3, 1, 1);
    CU_ASSERT_FALSE(no_process_is_left());
    close_scene(&w);
    CU_ASSERT_TRUE(no_process_is_left());
}

/* A try begins when the work for it is there, to the unit. */
static void just_enough_work_is_enough(void) {
    for (uint64_t less = 0; less <= 1; less++) {
        struct scene w;
        open_scene(&w, 3, 0);
        w.o.work = NEIGHBORHOOD_TRY_WORK_PER_OP * (uint64_t)w.c.p.n_ops - less;
        add_start(&w);
        search_on(&w);
        CU_ASSERT_EQUAL(w.stats.tries > 0, less == 0);
        close_scene(&w);
    }
}

/* Each schedule of the pool gets one descent: where it begins and where it ends, none
 * begins again, and none at what is no more in the pool, though it lies behind its end. */
static void schedules_get_one_descent(void) {
    struct scene w;
    open_scene(&w, 3, WORK);
    add_start(&w);
    rp_solution_pool_add(&w.pool, &w.c.s, w.c.time_ns + 1);
    CU_ASSERT_EQUAL_FATAL(w.pool.n, 2);
    struct rp_schedule rest = w.pool.at[1].s;
    w.pool.n = 1;
    search_on(&w);
    CU_ASSERT(w.pool.n == 1 && w.pool.at[0].time_ns < w.c.time_ns);
    CU_ASSERT_EQUAL(w.stats.descents, 1);
    CU_ASSERT(rp_recent_has(&w.state.descended_ns, w.c.time_ns));
    CU_ASSERT(rp_recent_has(&w.state.descended_ns, w.pool.at[0].time_ns));
    w.pool.at[1].time_ns = w.pool.at[0].time_ns + 1;
    search_on(&w);
    CU_ASSERT_EQUAL(w.stats.descents, 1);
    rp_schedule_fini(&rest);
    close_scene(&w);
}

/* Where the most bytes are in use during the first op, there is nothing to open. */
static void there_are_no_tries_without_ops_before_the_turn(void) {
    struct scene w;
    open_scene(&w, 3, WORK);
    w.c.p.workspace_bytes[0] += w.c.p.limit_bytes * 2;
    add_start(&w);
    search_on(&w);
    CU_ASSERT(w.stats.tries == 0 && w.state.work_left == WORK);
    close_scene(&w);
}

void suite_large_neighborhood(void) {
    RP_SUITE("large_neighborhood");
    RP_TEST(deep_programs_reach_the_optimum);
    RP_TEST(a_program_goes_on_where_it_was_cut_off);
    RP_TEST(the_search_leaves_local_optima_of_annealing);
    RP_TEST(the_same_seed_gives_the_same_schedule);
    RP_TEST(descents_are_weighted_like_other_tries);
    RP_TEST(schedules_get_one_descent);
    RP_TEST(there_are_no_tries_without_ops_before_the_turn);
    RP_TEST(a_descent_that_was_cut_off_goes_on);
    RP_TEST(a_descent_that_gains_nothing_waits_longer);
    RP_TEST(a_descent_that_went_on_comes_to_its_end);
    RP_TEST(no_program_outlives_the_search);
    RP_TEST(just_enough_work_is_enough);
    RP_TEST(little_work_is_saved_up);
}
