/* Tests of small tensors: which they are, that moves leave them alone, and that sources
 * stay on the device where that costs nothing. */
#include <math.h>

#include "layers.h"
#include "run.h"
#include "solve/incremental/incremental.h"
#include "solve/local/drop_swaps.h"
#include "solve/local/moves.h"
#include "solve/local/moves_home.h"
#include "solve/local/offload_all.h"

/* Six parameters of 10 bytes and six states of 40, which may all live on the host, within
 * `limit` bytes. */
static void open_layers(uint64_t limit, struct rp_graph *g, struct rp_instance *p) {
    rp_layers_parse(6, 40, g);
    rp_instance_init_homes(p, g, limit, false, NULL);
    rp_instance_allow_swap(p, RP_MAX_QUANTITY);
}

/* How many sources of so many bytes stay on the device. */
static uint32_t count_staying(const struct rp_instance *p, const struct rp_schedule *s,
                              uint64_t bytes) {
    uint32_t n = 0;
    for (uint32_t x = 0; x < p->n_homes; x++)
        n += p->bytes[x] == bytes && rp_source_stays(p, s, x);
    return n;
}

/* How many tensors of so many bytes are small, sources or what ops make. */
static uint32_t count_small(const struct rp_instance *p, uint64_t bytes, bool made) {
    struct rp_incremental state;
    uint32_t n = 0;
    rp_incremental_init(&state, p);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        n += p->bytes[x] == bytes && state.is_small[x] && (x >= p->n_homes) == made;
    rp_incremental_fini(&state);
    return n;
}

/* Of sources, the six parameters of 10 bytes, then also the six states of 40. */
static void small_sources_take_a_hundredth_of_the_limit(void) {
    static const struct {
        uint64_t limit;
        uint32_t n_parameters, n_states;
    } cases[] = {{5999, 0, 0}, {6000, 6, 0}, {29999, 6, 0}, {30000, 6, 6}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct rp_graph g;
        struct rp_instance p;
        open_layers(cases[k].limit, &g, &p);
        CU_ASSERT_EQUAL(count_small(&p, 10, false), cases[k].n_parameters);
        CU_ASSERT_EQUAL(count_small(&p, 40, false), cases[k].n_states);
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
}

/* Ops make 24 tensors of 10 bytes, six more as versions of parameters, and six of 40. */
static void small_tensors_take_a_three_hundredth_of_the_limit(void) {
    static const uint64_t limits[] = {89999, 90000, 161999, 162000};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        struct rp_graph g;
        struct rp_instance p;
        open_layers(limits[k], &g, &p);
        CU_ASSERT_EQUAL(count_small(&p, 10, true), k > 0 ? 30 : 0);
        CU_ASSERT_EQUAL(count_small(&p, 40, true), k > 2 ? 6 : 0);
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
}

/* A source that must live on the host is not among them. */
static void small_sources_may_stay_on_the_device(void) {
    struct rp_graph g;
    struct rp_instance p;
    rp_layers_parse(6, 40, &g);
    g.tensors[0].home = RP_HOME_HOST;
    g.fixed_bytes -= g.tensors[0].bytes;
    rp_instance_init_homes(&p, &g, 5000, false, NULL);
    CU_ASSERT_EQUAL(count_small(&p, 10, false), 5);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* All sources stay at first. Many moves send all states to the host, and no parameter. */
static void moves_send_no_small_source_to_the_host(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_incremental state;
    uint64_t random = 1;
    uint32_t n_staying = 0;
    open_layers(6000, &g, &p);
    rp_schedule_keep_all(&p, &s);
    CU_ASSERT_EQUAL(count_staying(&p, &s, 10), 6);
    rp_incremental_init(&state, &p);
    rp_incremental_load(&state, &s);
    for (int k = 0; k < 500; k++) {
        rp_incremental_begin(&state);
        if (rp_move_home(&state, &random) &&
            rp_incremental_evaluate(&state, 0, INFINITY, false))
            rp_incremental_commit(&state);
        else
            rp_incremental_undo(&state);
        rp_incremental_store(&state, &s);
        CU_ASSERT_EQUAL(count_staying(&p, &s, 10), 6);
        n_staying += count_staying(&p, &s, 40);
    }
    CU_ASSERT(n_staying > 500 && n_staying < 2500);
    rp_incremental_fini(&state);
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* Many moves drop and swap what ops make, but not the small half of it. */
static void moves_drop_no_small_tensor(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s, keep_all;
    struct rp_incremental state;
    uint64_t random = 1;
    uint32_t move, n_changed = 0;
    open_layers(1000, &g, &p);
    rp_schedule_keep_all(&p, &keep_all);
    rp_schedule_empty(&p, &s);
    rp_incremental_init(&state, &p);
    for (uint32_t x = p.n_homes; x < p.n_tensors; x++)
        state.is_small[x] = x % 2;
    rp_incremental_load(&state, &keep_all);
    for (int k = 0; k < 3000; k++) {
        if (rp_propose_move(&state, &random, &move) &&
            rp_incremental_evaluate(&state, 0, INFINITY, false))
            rp_incremental_commit(&state);
        else
            rp_incremental_undo(&state);
    }
    rp_incremental_store(&state, &s);
    for (uint32_t x = p.n_homes; x < p.n_tensors; x++)
        for (uint32_t t = p.producer[x] + 1; t <= p.n_ops; t++) {
            bool dropped = rp_held(&keep_all, t, x) && !rp_held(&s, t, x);
            CU_ASSERT(!state.is_small[x] || rp_is_version(&p, x) || !dropped);
            CU_ASSERT(!state.is_small[x] || rp_is_version(&p, x) ||
                      !rp_swapped_in(&s, t, x));
            n_changed += dropped;
        }
    CU_ASSERT(n_changed > 0);
    rp_incremental_fini(&state);
    rp_schedule_fini(&s);
    rp_schedule_fini(&keep_all);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* There is room for 30 bytes more than what offloading all takes: for three parameters and
 * no state; or for all. Tensors of more than max_bytes are left alone. */
static void sources_stay_where_that_costs_nothing(void) {
    static const struct {
        uint64_t more_bytes, max_bytes;
        bool dropped;
        uint32_t n_small, n_large;
    } cases[] = {{30, 10, true, 3, 0},
                 {1000, 9, false, 0, 0},
                 {1000, 10, true, 6, 0},
                 {1000, 40, true, 6, 6}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct rp_graph g;
        struct rp_instance p;
        struct rp_schedule s, fewer;
        open_layers(1000, &g, &p);
        rp_schedule_empty(&p, &s);
        rp_schedule_empty(&p, &fewer);
        rp_schedule_offload_all(&p, true, &s);
        struct rp_cost cost = rp_schedule_cost(&p, &s);
        p.limit_bytes = cost.peak_bytes + cases[k].more_bytes;
        CU_ASSERT_EQUAL(rp_drop_swaps(&p, cases[k].max_bytes, NULL, &s, &fewer),
                        cases[k].dropped);
        if (cases[k].dropped) {
            CU_ASSERT(rp_schedule_fits(&p, &fewer));
            CU_ASSERT(rp_schedule_cost(&p, &fewer).time_ns <= cost.time_ns);
            CU_ASSERT_EQUAL(count_staying(&p, &fewer, 10), cases[k].n_small);
            CU_ASSERT_EQUAL(count_staying(&p, &fewer, 40), cases[k].n_large);
        }
        rp_schedule_fini(&s);
        rp_schedule_fini(&fewer);
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
}

void suite_small_tensors(void) {
    RP_SUITE("small_tensors");
    RP_TEST(small_sources_take_a_hundredth_of_the_limit);
    RP_TEST(small_tensors_take_a_three_hundredth_of_the_limit);
    RP_TEST(small_sources_may_stay_on_the_device);
    RP_TEST(moves_send_no_small_source_to_the_host);
    RP_TEST(moves_drop_no_small_tensor);
    RP_TEST(sources_stay_where_that_costs_nothing);
}
