/* Tests of the optimum of the interval model, compared with brute force over all
 * programs. */
#include "solve/milp/interval_solve.h"

#include <stdlib.h>

#include "base/mem.h"
#include "brute_copies.h"
#include "gen.h"
#include "run.h"

/* A tiny graph, and what a plan for it may do. */
struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_brute_copies o;
};

static void task_init(struct task *t, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)(seed % 3));
    uint32_t op;
    shape.max_outputs = 1 + (uint32_t)(seed / 7 % 2);
    shape.training = seed % 3 != 0;
    shape.once_percent = seed % 5 == 0 ? 20 : 0;
    shape.rules_percent = seed % 2 ? 15 : 0;
    shape.n_sources = seed % 3;
    rp_gen_graph(seed, &shape, &t->g);
    t->g.device.h2d_bytes_per_s = 1000000000u * (1 + seed * 37 % 200);
    t->g.device.d2h_bytes_per_s = 1000000000u * (1 + seed * 53 % 200);
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes, false, NULL);
    rp_instance_allow_swap(&t->p, seed % 6 == 0 ? 1500 : RP_MAX_QUANTITY);
    t->p.limit_bytes = rp_instance_floor(&t->p, &op) + seed % 4 * 500;
    t->o = (struct rp_brute_copies){.limit_bytes = t->p.limit_bytes,
                                    .host_limit_bytes = t->p.host_limit_bytes,
                                    .recompute = seed % 11 != 0,
                                    .swap = true,
                                    .max_states = 100000};
    if (!t->o.recompute)
        rp_instance_run_once(&t->p);
}

static void task_fini(struct task *t) {
    rp_instance_fini(&t->p);
    rp_graph_fini(&t->g);
}

static uint64_t bound_of(const struct task *t, uint64_t horizon_ns) {
    struct rp_interval_model m;
    struct rp_interval_result r;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = 2000000};
    rp_interval_model_init(&m, &t->p, horizon_ns);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    rp_interval_solve(&m, &o, x, &r);
    free(x);
    rp_interval_model_fini(&m);
    return r.bound_ns;
}

/* 515 graphs that brute force can solve. On 131 of them no plan is as fast as keep-all, and
 * on 116 of these the bound is the optimum. On the others it is not: frees and copies are
 * seen at the ends of stages only, and so is what runs in the middle of a stage. */
static void the_optimum_is_never_above_that_of_all_programs(void) {
    uint32_t n = 720, n_known = 0, n_slower = 0, n_equal = 0;
    uint64_t seed = rp_gen_seed(1, &n);
    uint32_t all = n;
    for (; n > 0; n--, seed++) {
        struct task t;
        uint64_t best = 0;
        task_init(&t, seed);
        if (t.p.n_tensors <= RP_BRUTE_COPIED &&
            rp_brute_copies_best(&t.g, &t.o, &best) == RP_BRUTE_FOUND) {
            uint64_t bound_ns = bound_of(&t, 2 * best);
            bool slower = best > t.g.total_time_ns;
            n_known++;
            n_slower += slower;
            n_equal += slower && bound_ns == best;
            if (bound_ns > best || bound_of(&t, best) > best) {
                rp_gen_failed(seed);
                CU_FAIL("a bound above the time of a program");
            }
        }
        task_fini(&t);
    }
    CU_ASSERT(all == 1 || n_known >= 500);
    CU_ASSERT(all == 1 || 100 * n_equal >= 85 * n_slower);
}

void suite_interval_solve(void) {
    RP_SUITE("interval_solve");
    RP_TEST(the_optimum_is_never_above_that_of_all_programs);
}
