/* Minimum cuts against the enumeration of all cuts of small random networks. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "gen.h"
#include "policy/min_cut.h"
#include "run.h"

enum { MAX_VERTICES = 9 };

static struct rp_network random_network(uint64_t *random) {
    struct rp_network n = {.n_vertices = 2 + (uint32_t)rp_random_below(random, 8)};
    uint32_t n_arcs = (uint32_t)rp_random_below(random, 3 * n.n_vertices);
    for (uint32_t k = 0; k < n_arcs; k++) {
        uint32_t from = (uint32_t)rp_random_below(random, n.n_vertices);
        uint32_t to = (uint32_t)rp_random_below(random, n.n_vertices);
        uint64_t capacity = rp_random_below(random, 5);
        if (rp_random_below(random, 6) == 0 && (from != 0 || to != 1))
            capacity = RP_UNCUTTABLE;
        if (from != to)
            rp_push(&n.arcs, ((struct rp_arc){from, to, capacity}));
    }
    return n;
}

/* The capacity of the cut whose sink side is the set; UINT64_MAX if it holds an arc that
 * none should, or has not the sink alone of the two. Source 0, sink 1. */
static uint64_t capacity_of(const struct rp_network *n, uint32_t set) {
    uint64_t sum = 0;
    if ((set & 3) != 2)
        return UINT64_MAX;
    for (size_t a = 0; a < n->arcs.n; a++) {
        const struct rp_arc *arc = &n->arcs.at[a];
        if ((set >> arc->from & 1) == 1 || (set >> arc->to & 1) == 0)
            continue;
        if (arc->capacity == RP_UNCUTTABLE)
            return UINT64_MAX;
        sum += arc->capacity;
    }
    return sum;
}

static void a_cut_is_minimal_and_nearest_to_the_sink(void) {
    uint32_t n_networks = 3000, n_checked = 0;
    for (uint64_t seed = rp_gen_seed(1, &n_networks); n_networks > 0;
         n_networks--, seed++) {
        uint64_t random = seed, best = UINT64_MAX;
        uint32_t nearest = 0, found = 0;
        bool sink_side[MAX_VERTICES + 1];
        struct rp_network n = random_network(&random);
        for (uint32_t set = 0; set < (uint32_t)1 << n.n_vertices; set++) {
            uint64_t c = capacity_of(&n, set);
            /* The sink sides of minimum cuts are closed under intersection. */
            nearest = c < best ? set : c == best ? nearest & set : nearest;
            best = c < best ? c : best;
        }
        if (best < UINT64_MAX) {
            CU_ASSERT_EQUAL(rp_min_cut(&n, 0, 1, NULL, sink_side), best);
            for (uint32_t v = 0; v < n.n_vertices; v++)
                found |= (uint32_t)sink_side[v] << v;
            if (found != nearest) {
                rp_gen_failed(seed);
                CU_FAIL("the cut is not the one nearest to the sink");
            }
            n_checked++;
        }
        free(n.arcs.at);
    }
    CU_ASSERT(n_checked > 0);
}

/* Chains of arcs from 0 to 1, each of them a path to be found. */
static void a_long_cut_asks_as_it_goes(void) {
    enum { CHAINS = 600, LENGTH = 600 };
    struct rp_network n = {.n_vertices = 2 + CHAINS * LENGTH};
    bool *sink_side = rp_calloc(n.n_vertices, sizeof *sink_side);
    struct rp_stop stop = {.deadline = INFINITY}, early = stop;
    for (uint32_t v = 2; v < n.n_vertices; v++) {
        bool begins = (v - 2) % LENGTH == 0, ends = (v - 1) % LENGTH == 0;
        if (begins)
            rp_push(&n.arcs, ((struct rp_arc){0, v, 1}));
        rp_push(&n.arcs, ((struct rp_arc){v, ends ? 1 : v + 1, 1}));
    }
    CU_ASSERT_EQUAL(rp_min_cut(&n, 0, 1, &stop, sink_side), CHAINS);
    CU_ASSERT(stop.questions >= 3 && !stop.hit);
    for (early.max_questions = 1; early.max_questions < 3; early.max_questions++) {
        early.questions = 0;
        rp_stop_until(&early, INFINITY);
        CU_ASSERT(rp_min_cut(&n, 0, 1, &early, sink_side) < CHAINS);
        CU_ASSERT(early.hit && early.questions == early.max_questions);
    }
    free(sink_side);
    free(n.arcs.at);
}

void suite_min_cut(void) {
    RP_SUITE("min_cut");
    RP_TEST(a_cut_is_minimal_and_nearest_to_the_sink);
    RP_TEST(a_long_cut_asks_as_it_goes);
}
