/* Tests of the time line that all planning code uses, with figures worked out by hand. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen.h"
#include "model/graph.h"
#include "model/timeline.h"
#include "run.h"
#include "solve/core/plan_claims.h"
#include "verify/verifier.h"

/* a (100 ns) -> b (50 ns) -> c (10 ns, reads the output of a too). A copy takes 5 ns and
 * then 1 ns per 2 bytes out or per 4 bytes in. The output of a has 401 bytes. */
static const char chain[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"none\","
    "\"device\":{\"d2h_bytes_per_s\":2000000000,\"h2d_bytes_per_s\":4000000000,"
    "\"copy_latency_ns\":5},"
    "\"tensors\":[{\"name\":\"a\",\"bytes\":401,\"kind\":\"activation\"},"
    "{\"name\":\"b\",\"bytes\":8,\"kind\":\"activation\"},"
    "{\"name\":\"c\",\"bytes\":8,\"kind\":\"activation\"}],"
    "\"ops\":[{\"name\":\"0\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[0],\"time_ns\":100}"
    ","
    "{\"name\":\"1\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":50},"
    "{\"name\":\"2\",\"kind\":\"k\",\"inputs\":[0,1],\"outputs\":[2],\"time_ns\":10}],"
    "\"keep\":[2]}";

static struct rp_graph load(void) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(chain, strlen(chain), "g", &g, &err), RP_OK);
    return g;
}

static void run_steps(struct rp_timeline *t, size_t n, const struct rp_step *steps) {
    for (size_t i = 0; i < n; i++)
        rp_timeline_step(t, &steps[i]);
}

static void a_copy_takes_the_latency_and_its_bytes_rounded_up(void) {
    struct rp_device d = {
        .d2h_bytes_per_s = 2000000000, .h2d_bytes_per_s = 4000000000, .copy_latency_ns = 5};
    CU_ASSERT_EQUAL(rp_device_d2h_ns(&d, 400), 205);
    CU_ASSERT_EQUAL(rp_device_d2h_ns(&d, 401), 206);
    CU_ASSERT_EQUAL(rp_device_h2d_ns(&d, 401), 106);
    CU_ASSERT_EQUAL(rp_device_h2d_ns(&d, 0), 5);
    d.h2d_bytes_per_s = 1000000000;
    CU_ASSERT_EQUAL(rp_device_h2d_ns(&d, RP_MAX_QUANTITY - 5), RP_MAX_QUANTITY);
    CU_ASSERT_EQUAL(rp_device_h2d_ns(&d, RP_MAX_QUANTITY - 4), UINT64_MAX);
}

static void tensors_may_be_swapped_only_with_both_bandwidths(void) {
    struct rp_device both = {.d2h_bytes_per_s = 1, .h2d_bytes_per_s = 1};
    struct rp_device out = {.d2h_bytes_per_s = 1}, in = {.h2d_bytes_per_s = 1};
    CU_ASSERT_TRUE(rp_device_can_swap(&both));
    CU_ASSERT_FALSE(rp_device_can_swap(&out));
    CU_ASSERT_FALSE(rp_device_can_swap(&in));
}

static void runs_and_frees_wait_for_copies(void) {
    static const struct rp_step steps[] = {
        {.kind = RP_RUN, .id = 0},      /* 0 .. 100 */
        {.kind = RP_SWAP_OUT, .id = 0}, /* 100 .. 306 */
        {.kind = RP_RUN, .id = 1},      /* 100 .. 150 */
        {.kind = RP_FREE, .id = 0},     /* waits until 306 */
        {.kind = RP_SWAP_IN, .id = 0},  /* 306 .. 412 */
        {.kind = RP_RUN, .id = 2},      /* waits until 412, ends at 422 */
    };
    struct rp_graph g = load();
    struct rp_timeline t;
    rp_timeline_init(&t, &g);
    run_steps(&t, 6, steps);
    CU_ASSERT_TRUE(t.sound && !t.overflow);
    CU_ASSERT_EQUAL(t.host_ready_ns[0], 306);
    CU_ASSERT_EQUAL(t.ready_ns[0], 412);
    CU_ASSERT_EQUAL(t.d2h_busy_ns, 206);
    CU_ASSERT_EQUAL(t.h2d_busy_ns, 106);
    CU_ASSERT_EQUAL(t.stall_ns, 156 + 106);
    CU_ASSERT_EQUAL(rp_timeline_end(&t), 422);
    rp_timeline_fini(&t);
    rp_graph_fini(&g);
}

static void freeing_or_recomputing_during_a_swap_in_is_not_sound(void) {
    static const struct rp_step steps[] = {
        {.kind = RP_RUN, .id = 0},     {.kind = RP_SWAP_OUT, .id = 0},
        {.kind = RP_RUN, .id = 1},     {.kind = RP_FREE, .id = 0},
        {.kind = RP_SWAP_IN, .id = 0},
    };
    static const struct rp_step last[] = {{.kind = RP_FREE, .id = 0},
                                          {.kind = RP_RUN, .id = 0}};
    struct rp_graph g = load();
    for (int k = 0; k < 2; k++) {
        struct rp_timeline t;
        rp_timeline_init(&t, &g);
        run_steps(&t, 5, steps);
        CU_ASSERT_TRUE(t.sound);
        rp_timeline_step(&t, &last[k]);
        CU_ASSERT_FALSE(t.sound);
        rp_timeline_fini(&t);
    }
    rp_graph_fini(&g);
}

static void a_time_beyond_63_bits_saturates(void) {
    static const struct rp_step steps[] = {{.kind = RP_RUN, .id = 0},
                                           {.kind = RP_SWAP_OUT, .id = 0}};
    struct rp_graph g = load();
    struct rp_timeline t;
    g.device.copy_latency_ns = RP_MAX_QUANTITY - 206; /* ends at the largest - 1 + 100 */
    rp_timeline_init(&t, &g);
    run_steps(&t, 2, steps);
    CU_ASSERT_TRUE(t.overflow);
    CU_ASSERT_EQUAL(rp_timeline_end(&t), RP_MAX_QUANTITY);
    CU_ASSERT_EQUAL(t.d2h_busy_ns, RP_MAX_QUANTITY - 206 + 201);
    rp_timeline_fini(&t);
    rp_graph_fini(&g);
}

/* The planner's claims of random plans of both versions, as verify sees them. */
static void claims_are_those_that_verify_finds(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)(seed % 20));
        struct rp_graph g;
        struct rp_plan p;
        struct rp_verdict v;
        struct rp_err err = {{0}};
        shape.version_2 = seed % 2 == 0;
        shape.n_sources = 4;
        rp_gen_graph(seed, &shape, &g);
        rp_gen_plan(seed, &g, seed % 3 == 0, &p);
        CU_ASSERT_EQUAL(rp_plan_fill_claims(&g, &p, &err), RP_OK);
        rp_plan_set_bound(&g, &p.claims, 0, rp_bound_for_all_plans);
        if (rp_verify(&g, &p, &v, &err) != RP_OK) {
            rp_gen_failed(seed);
            printf("%s\n", err.msg);
            CU_FAIL("verify finds other claims");
        }
        rp_plan_fini(&p);
        rp_graph_fini(&g);
    }
}

void suite_timeline(void) {
    RP_SUITE("timeline");
    RP_TEST(a_copy_takes_the_latency_and_its_bytes_rounded_up);
    RP_TEST(tensors_may_be_swapped_only_with_both_bandwidths);
    RP_TEST(runs_and_frees_wait_for_copies);
    RP_TEST(freeing_or_recomputing_during_a_swap_in_is_not_sound);
    RP_TEST(a_time_beyond_63_bits_saturates);
    RP_TEST(claims_are_those_that_verify_finds);
}
