/* Tests of solve/local/moves_hold.h: what a move proposes, on a graph to follow by hand. */
#include "solve/local/moves_hold.h"

#include "drawn.h"
#include "run.h"
#include "solve/incremental/incremental.h"

/* After f5 nothing holds b, so stage b2 makes it again, with a. There is no room for e
 * then, which b3 makes again. */
static const struct rp_drawn_op chain[] = {
    {"f1", "relu", "s", "a", 10, 1},  {"f2", "relu", "a", "b", 10, 1},
    {"f3", "relu", "b", "c", 10, 5},  {"f4", "relu", "c", "d", 10, 5},
    {"f5", "relu", "bd", "h", 10, 5}, {"f6", "relu", "h", "i", 10, 5},
    {"f7", "relu", "i", "j", 10, 5},  {"f8", "relu", "j", "k", 10, 5},
    {"f9", "relu", "k", "l", 10, 5},  {"f10", "relu", "l", "m", 10, 5},
    {"f11", "relu", "m", "g", 10, 5}, {"b1", "relu", "g", "e", 10, 9},
    {"b2", "relu", "bg", "w", 1, 5},  {"b3", "relu", "bew", "o", 1, 5},
};
enum { N_OPS = sizeof chain / sizeof *chain, F5 = 4, B2 = 12, B3 };
enum { A, B, G = 10, E, LIMIT = 33, TRIES = 20000 };

struct scene {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule start;
    struct rp_incremental s;
};

static void scene_init(struct scene *k, bool swaps) {
    rp_draw(chain, N_OPS, &k->g);
    rp_instance_init(&k->p, &k->g, LIMIT, false, NULL);
    if (swaps)
        CU_ASSERT(rp_instance_allow_swap(&k->p, RP_MAX_QUANTITY));
    rp_schedule_keep_all(&k->p, &k->start);
    rp_schedule_set(&k->start, B, F5 + 1, B2, false);
    rp_schedule_set(&k->start, E, B2, B3, false);
    rp_schedule_set(&k->start, G, B3, B3, true);
    rp_incremental_init(&k->s, &k->p);
    rp_incremental_load(&k->s, &k->start);
    CU_ASSERT_EQUAL(k->s.overflow_bytes, 0);
}

static void scene_fini(struct scene *k) {
    rp_incremental_fini(&k->s);
    rp_schedule_fini(&k->start);
    rp_instance_fini(&k->p);
    rp_graph_fini(&k->g);
}

/* Of many proposals, how many hold x from row `first` to row `last`, for each `first`, or
 * drop it there. */
struct seen {
    uint32_t held[N_OPS], dropped[N_OPS], moves;
};

static void propose(struct scene *k, uint32_t x, uint32_t last, struct seen *seen) {
    uint64_t random = 1;
    *seen = (struct seen){0};
    for (int i = 0; i < TRIES; i++) {
        uint32_t n;
        rp_incremental_begin(&k->s);
        bool any = rp_move_shift_recompute(&k->s, &random);
        const struct rp_flip *f = rp_incremental_flips(&k->s, &n);
        CU_ASSERT_EQUAL(any, n > 0);
        if (n > 0 && f->x == x) {
            seen->moves++;
            if (f->last == last)
                ++*(f->value ? &seen->held[f->first] : &seen->dropped[f->first]);
        }
        rp_incremental_undo(&k->s);
    }
}

static void a_tensor_is_made_again_sooner_though_nothing_uses_it_there(void) {
    struct scene k;
    struct seen seen;
    scene_init(&k, true);
    propose(&k, B, B2, &seen);
    for (uint32_t t = 0; t < N_OPS; t++)
        CU_ASSERT_EQUAL(seen.held[t] > 0, t > F5 + 1 && t <= B2);
    CU_ASSERT(seen.held[B2] > 4 * seen.held[F5 + 2]);
    propose(&k, A, B2, &seen); /* its op reads a source only */
    for (uint32_t t = 0; t < N_OPS; t++)
        CU_ASSERT_EQUAL(seen.held[t] > 0, t > B2 - 8 && t <= B2);
    scene_fini(&k);
}

static void or_where_it_is_used_next(void) {
    struct scene k;
    struct seen seen;
    scene_init(&k, true);
    propose(&k, B, B3, &seen);
    for (uint32_t t = 0; t < N_OPS; t++)
        CU_ASSERT_EQUAL(seen.dropped[t] > 0, t == B3);
    CU_ASSERT(3 * seen.dropped[B3] > 2 * seen.moves && seen.dropped[B3] < seen.moves);
    scene_fini(&k);
}

/* That is not how it comes to be dropped if it is small. */
static void unless_it_is_small(void) {
    struct scene k;
    struct seen seen;
    scene_init(&k, true);
    k.s.is_small[B] = true;
    propose(&k, B, B3, &seen);
    CU_ASSERT(seen.moves > 0);
    CU_ASSERT_EQUAL(seen.dropped[B3], 0);
    scene_fini(&k);
}

static void without_swaps_only_where_an_input_is_used(void) {
    struct scene k;
    struct seen seen;
    scene_init(&k, false);
    propose(&k, B, B2, &seen);
    CU_ASSERT_EQUAL(seen.moves, 0);
    propose(&k, E, B3, &seen);
    CU_ASSERT(seen.moves > 0);
    scene_fini(&k);
}

static void but_rather_where_an_input_of_its_op_is_used(void) {
    struct scene k;
    struct seen seen;
    scene_init(&k, true);
    propose(&k, E, B3, &seen);
    CU_ASSERT(seen.moves > 0);
    CU_ASSERT_EQUAL(seen.held[B3], seen.moves);
    scene_fini(&k);
}

void suite_moves_hold(void) {
    RP_SUITE("moves_hold");
    RP_TEST(a_tensor_is_made_again_sooner_though_nothing_uses_it_there);
    RP_TEST(or_where_it_is_used_next);
    RP_TEST(unless_it_is_small);
    RP_TEST(without_swaps_only_where_an_input_is_used);
    RP_TEST(but_rather_where_an_input_of_its_op_is_used);
}
