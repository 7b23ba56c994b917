/* Tests of bounds from the whole interval model and windows of it together. */
#include "solve/milp/interval_proof.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gen.h"
#include "run.h"
#include "solve/core/params.h"
#include "solve/milp/interval_point.h"
#include "solve/milp/interval_worker.h"

enum { WORK = 20000 };

/* A graph of 16 to 23 ops at its floor, a random plan for it, and its model. */
struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_plan plan;
    struct rp_interval_program q;
    struct rp_interval_model m;
    struct rp_interval_proof proof;
    struct rp_interval_options o;
    double *x;
};

/* As if the plan took a tenth of the time beside its first runs: faster than any. */
static void make_fast(struct task *t) {
    t->q.time_ns = t->g.total_time_ns;
    for (uint32_t u = 0; u <= t->p.n_ops; u++)
        t->q.time_ns += t->q.d_ns[u] /= 10;
}

static void task_init(struct task *t, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(16 + (uint32_t)(seed % 8));
    uint32_t op;
    shape.bandwidths = shape.training = true;
    rp_gen_graph(seed, &shape, &t->g);
    rp_gen_plan(seed, &t->g, false, &t->plan);
    rp_instance_init(&t->p, &t->g, t->plan.budget_bytes, false, NULL);
    rp_instance_allow_swap(&t->p, t->plan.host_bytes);
    CU_ASSERT_FATAL(rp_interval_program_read(&t->p, NULL, &t->plan, &t->q));
    if (seed % 3 == 1)
        make_fast(t);
    t->p.limit_bytes = rp_instance_floor(&t->p, &op);
    rp_interval_model_init(&t->m, &t->p, t->q.time_ns - 1);
    t->proof = (struct rp_interval_proof){&t->m, &t->p, t->q.time_ns, t->q.d_ns};
    t->o = (struct rp_interval_options){.engine = RP_ENGINE_GLPK, .work = WORK};
    t->x = rp_calloc(t->m.n_cols, sizeof *t->x);
}

static void task_fini(struct task *t) {
    free(t->x);
    rp_interval_model_fini(&t->m);
    rp_interval_program_fini(&t->q);
    rp_instance_fini(&t->p);
    rp_plan_fini(&t->plan);
    rp_graph_fini(&t->g);
}

static struct rp_interval_result prove(struct task *t) {
    struct rp_interval_result r = {0};
    rp_interval_prove(&t->proof, &t->o, t->x, &r);
    return r;
}

static struct rp_interval_result solve_whole(struct task *t, uint64_t work) {
    struct rp_interval_result r;
    struct rp_interval_options o = t->o;
    o.work = work;
    rp_interval_solve(&t->m, &o, t->x, &r);
    return r;
}

static struct rp_interval_result solve_windows(struct task *t, uint64_t work) {
    struct rp_interval_result r;
    struct rp_interval_options o = t->o;
    o.work = work;
    rp_interval_windows_solve(&t->p, t->q.time_ns, t->q.d_ns, &o, &r);
    return r;
}

static bool same(struct rp_interval_result a, struct rp_interval_result b) {
    return a.finished == b.finished && a.bound_ns == b.bound_ns &&
           a.root_bound_ns == b.root_bound_ns && a.found == b.found &&
           a.n_fixed == b.n_fixed && a.n_cuts == b.n_cuts && a.work == b.work &&
           a.nodes == b.nodes;
}

/* Both, as the header says. */
static struct rp_interval_result expected(struct task *t, uint64_t plan_ns,
                                          uint32_t *n_windows, uint32_t *n_again,
                                          uint32_t *n_ended) {
    struct rp_interval_result r = solve_whole(t, WORK / 10 + 1), w;
    if (r.finished)
        return r;
    if ((double)plan_ns <= (1 + MIN_WINDOWS_GAP) * (double)r.bound_ns) {
        uint64_t work = r.work;
        r = solve_whole(t, WORK - work);
        r.work += work;
        ++*n_again;
        return r;
    }
    w = solve_windows(t, WORK - r.work);
    *n_windows += w.bound_ns > r.bound_ns;
    *n_ended += w.finished && w.n_fixed > 0;
    r.finished |= w.finished;
    r.bound_ns = w.bound_ns > r.bound_ns ? w.bound_ns : r.bound_ns;
    r.root_bound_ns = w.root_bound_ns > r.root_bound_ns ? w.root_bound_ns : r.root_bound_ns;
    r.n_fixed += w.n_fixed;
    r.n_cuts += w.n_cuts;
    r.work += w.work;
    r.nodes += w.nodes;
    return r;
}

static void windows_come_where_the_whole_leaves_a_gap(void) {
    uint32_t n = 60, n_windows = 0, n_again = 0, n_ended = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task t;
        task_init(&t, seed);
        if (seed % 3 == 0) /* a plan that is 0.99% above what the whole proves at first */
            t.proof.plan_ns = 10099 * solve_whole(&t, WORK / 10 + 1).bound_ns / 10000;
        if (!same(prove(&t),
                  expected(&t, t.proof.plan_ns, &n_windows, &n_again, &n_ended))) {
            rp_gen_failed(seed);
            CU_FAIL("another proof");
        }
        t.proof.plan_ns = t.q.time_ns;
        t.proof.d_ns = NULL;
        CU_ASSERT(same(prove(&t), solve_whole(&t, WORK)));
        t.proof.d_ns = t.q.d_ns;
        t.proof.whole = NULL;
        CU_ASSERT(same(prove(&t), solve_windows(&t, WORK)));
        task_fini(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || (n_windows >= 20 && n_again >= 10 && n_ended >= 3));
}

/* The worker tells the better bound of both at any moment. */
static void a_process_proves_the_same(void) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct task t;
        struct rp_interval_result there;
        task_init(&t, seed);
        struct rp_interval_worker *worker =
            rp_interval_worker_start_proof(&t.p, t.q.time_ns, t.q.d_ns, true, &t.o);
        CU_ASSERT_PTR_NOT_NULL_FATAL(worker);
        while (!rp_interval_worker_wait(worker, 1, &there))
            ;
        CU_ASSERT(same(prove(&t), there));
        CU_ASSERT_EQUAL(*rp_interval_worker_proved_ns(worker), there.bound_ns);
        rp_interval_worker_end(worker);
        task_fini(&t);
    }
}

void suite_interval_proof(void) {
    RP_SUITE("interval_proof");
    RP_TEST(windows_come_where_the_whole_leaves_a_gap);
    RP_TEST(a_process_proves_the_same);
}
