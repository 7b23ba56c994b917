/* Tests of the process that solves the interval model. */
#include "solve/milp/interval_worker.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "dense_row.h"
#include "run.h"
#include "solve/milp/interval_point.h"

/* How much memory this process shares, in mappings. */
static uint32_t shared_mappings(void) {
    char line[512];
    uint32_t n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    while (fgets(line, sizeof line, f) != NULL)
        n += strstr(line, "/dev/zero") != NULL;
    fclose(f);
    return n;
}

static bool same(const struct rp_interval_result *a, const struct rp_interval_result *b) {
    return a->finished == b->finished && a->bound_ns == b->bound_ns &&
           a->root_bound_ns == b->root_bound_ns && a->found == b->found &&
           a->n_fixed == b->n_fixed && a->n_cuts == b->n_cuts && a->work == b->work &&
           a->nodes == b->nodes;
}

static bool same_schedule(const struct rp_schedule *a, const struct rp_schedule *b) {
    bool same = true;
    for (uint32_t t = 0; t <= a->n_stages; t++)
        for (uint32_t x = 0; x < 64 * a->words; x++)
            same = same && rp_held(a, t, x) == rp_held(b, t, x) &&
                   rp_swapped_in(a, t, x) == rp_swapped_in(b, t, x);
    return same;
}

/* Solves it in this process. */
static struct rp_interval_result solve(const struct rp_instance *p, uint64_t horizon_ns,
                                       const struct rp_interval_options *o,
                                       struct rp_schedule *s) {
    struct rp_interval_model m;
    struct rp_interval_result r;
    rp_interval_model_init(&m, p, horizon_ns);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    rp_interval_solve(&m, o, x, &r);
    rp_interval_schedule(&m, x, s);
    free(x);
    rp_interval_model_fini(&m);
    return r;
}

/* The process does not look at `stop`, which has come. */
static void its_answer_is_that_of_this_process(void) {
    volatile sig_atomic_t interrupted = 1;
    struct rp_stop stop = {.interrupted = &interrupted, .deadline = INFINITY};
    struct rp_small_model w;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = 2000000};
    struct rp_interval_result here, there;
    struct rp_schedule s, t;
    rp_small_model_init(&w, 2);
    rp_schedule_empty(&w.p, &s);
    rp_schedule_empty(&w.p, &t);
    here = solve(&w.p, 2 * w.total_ns, &o, &s);
    CU_ASSERT(here.found && rp_schedule_swaps(&s));
    o.stop = &stop;
    uint32_t before = shared_mappings();
    struct rp_interval_worker *worker =
        rp_interval_worker_start(&w.p, 2 * w.total_ns, NULL, &o);
    CU_ASSERT_PTR_NOT_NULL_FATAL(worker);
    CU_ASSERT_EQUAL(shared_mappings(), before + 1);
    while (!rp_interval_worker_wait(worker, 1, &there))
        ;
    CU_ASSERT(same(&here, &there));
    rp_interval_worker_schedule(worker, &t);
    CU_ASSERT(same_schedule(&s, &t));
    CU_ASSERT(rp_interval_worker_wait(worker, 0, &there) && same(&here, &there));
    rp_interval_worker_end(worker);
    CU_ASSERT_EQUAL(shared_mappings(), before);
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    rp_schedule_fini(&s);
    rp_schedule_fini(&t);
    rp_small_model_fini(&w);
}

static void chain_init(struct rp_graph *g, struct rp_instance *p) {
    struct rp_err err = {{0}};
    CU_ASSERT_FATAL(rp_graph_load("tests/data/milp/chain.json", g, &err) == RP_OK);
    rp_instance_init(p, g, 17813196, false, NULL);
    rp_instance_allow_swap(p, RP_MAX_QUANTITY);
}

static void kill_children(void) {
    char path[64];
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    while (fscanf(f, "%d", &pid) == 1)
        kill(pid, SIGKILL);
    fclose(f);
}

/* The process is killed at the root, once it has proved more than the sum of op times. */
static void its_death_keeps_what_it_has_proved(void) {
    const uint64_t plan_ns = 12950000;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = UINT64_MAX};
    struct rp_interval_result r;
    struct rp_instance p;
    struct rp_graph g;
    chain_init(&g, &p);
    struct rp_interval_worker *worker = rp_interval_worker_start(&p, 2 * plan_ns, NULL, &o);
    CU_ASSERT_PTR_NOT_NULL_FATAL(worker);
    while (!rp_interval_worker_wait(worker, 0.001, &r) &&
           *rp_interval_worker_proved_ns(worker) <= g.total_time_ns)
        ;
    uint64_t proved_ns = *rp_interval_worker_proved_ns(worker);
    CU_ASSERT(proved_ns > g.total_time_ns);
    kill_children();
    CU_ASSERT(rp_interval_worker_wait(worker, 600, &r));
    CU_ASSERT(proved_ns <= r.bound_ns && r.bound_ns <= plan_ns);
    rp_interval_worker_end(worker);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* Without a free file descriptor there is no socket. */
static void no_process_leaves_nothing_behind(void) {
    struct rp_small_model w;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = 1000};
    struct rlimit old;
    rp_small_model_init(&w, 2);
    uint32_t before = shared_mappings();
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &old), 0);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, old.rlim_max});
    CU_ASSERT_PTR_NULL(rp_interval_worker_start(&w.p, w.horizon_ns, NULL, &o));
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &old), 0);
    CU_ASSERT_EQUAL(shared_mappings(), before);
    rp_small_model_fini(&w);
}

void suite_interval_worker(void) {
    RP_SUITE("interval_worker");
    RP_TEST(its_answer_is_that_of_this_process);
    RP_TEST(its_death_keeps_what_it_has_proved);
    RP_TEST(no_process_leaves_nothing_behind);
}
