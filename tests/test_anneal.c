/* Tests of the ends of solve/local/anneal.h: nothing to search, and no time. */
#include "solve/local/anneal.h"

#include <math.h>

#include "gen.h"
#include "run.h"

static bool never(void *arg, double best_ns) {
    (void)arg;
    (void)best_ns;
    return false;
}

/* Anneals from keep-all, which fits. */
static struct rp_anneal_result anneal(uint32_t n_ops, struct rp_stop *until) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    struct rp_anneal_options o = {
        .seed = 1, .work = 100000, .initial_temperature = 1, .stop = never, .until = until};
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_anneal_result r;
    rp_gen_graph(1, &shape, &g);
    rp_instance_init(&p, &g, RP_MAX_QUANTITY / 2, false, NULL);
    rp_schedule_keep_all(&p, &s);
    rp_anneal(&p, &o, &s, &r);
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return r;
}

static void one_op_leaves_nothing_to_search(void) {
    struct rp_anneal_result r = anneal(1, NULL);
    CU_ASSERT(r.found && !r.stopped && r.time_ns < INFINITY);
    CU_ASSERT_EQUAL(r.moves, 0);
}

static void without_time_to_read_the_start_nothing_is_found(void) {
    struct rp_stop stop = {.deadline = INFINITY, .hit = true};
    struct rp_anneal_result r = anneal(10, &stop);
    CU_ASSERT(r.stopped && !r.found && r.time_ns == INFINITY);
    CU_ASSERT_EQUAL(r.moves, 0);
}

void suite_anneal(void) {
    RP_SUITE("anneal");
    RP_TEST(one_op_leaves_nothing_to_search);
    RP_TEST(without_time_to_read_the_start_nothing_is_found);
}
