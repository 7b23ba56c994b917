/* Tests of solve/search/perturb.h: what it does with the one tensor of graphs drawn by
 * hand, and what it never does on random ones. */
#include "solve/search/perturb.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "digest.h"
#include "drawn.h"
#include "gen.h"
#include "run.h"
#include "solve/local/offload_all.h"

struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule from, to;
};

static void open_task(struct task *t) {
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes + 1000000, false, NULL);
    CU_ASSERT_FATAL(rp_instance_allow_swap(&t->p, RP_MAX_QUANTITY));
    rp_schedule_keep_all(&t->p, &t->from);
    t->to = (struct rp_schedule){0};
}

static void close_task(struct task *t) {
    rp_schedule_fini(&t->from);
    rp_schedule_fini(&t->to);
    rp_instance_fini(&t->p);
    rp_graph_fini(&t->g);
}

static bool perturb(struct task *t, uint64_t random) {
    return rp_perturb(&t->p, &random, NULL, &t->from, &t->to);
}

/* a has 30 bytes, and each op takes 10 ns. Nothing uses a for 80 ns, and then for none. */
static const struct rp_drawn_op one_large[] = {
    {"f1", "conv", "s", "a", 30, 10, false}, {"f2", "conv", "a", "b", 1, 10, false},
    {"f3", "conv", "b", "c", 1, 10, false},  {"f4", "conv", "c", "d", 1, 10, false},
    {"f5", "conv", "d", "e", 1, 10, false},  {"f6", "conv", "e", "f", 1, 10, false},
    {"b6", "conv", "f", "g", 1, 10, false},  {"b5", "conv", "g", "h", 1, 10, false},
    {"b4", "conv", "h", "i", 1, 10, false},  {"b3", "conv", "i", "j", 1, 10, false},
    {"b2", "conv", "aj", "k", 1, 10, false}, {"b1", "conv", "ak", "l", 1, 10, false},
};

/* The other tensors have no gap at all, so it is always a. It comes back in the three
 * stages before b2, which take as long as the copy. */
static void a_large_tensor_goes_to_the_host(void) {
    struct task t;
    rp_draw(one_large, sizeof one_large / sizeof *one_large, &t.g);
    open_task(&t);
    for (uint64_t random = 1; random < 10; random++) {
        CU_ASSERT(perturb(&t, random));
        rp_drawn_check_rows(&t.from, 0, ".###########.");
        rp_drawn_check_rows(&t.to, 0, ".#.....<####.");
        rp_drawn_check_rows(&t.to, 1, "..#..........");
    }
    close_task(&t);
}

/* Between f1 and f6 nothing uses a for as long as between f6 and b2: the first gap counts.
 * Then b is the large one, and a has no gap. */
static void the_first_longest_gap_of_a_large_tensor_counts(void) {
    struct rp_drawn_op ops[12];
    struct task t;
    memcpy(ops, one_large, sizeof ops);
    ops[0].bytes = 10;
    ops[1].reads = "s";
    ops[5].reads = "ae";
    rp_draw(ops, 12, &t.g);
    open_task(&t);
    CU_ASSERT(perturb(&t, 1));
    rp_drawn_check_rows(&t.to, 0, "....<#######.");
    close_task(&t);
    memcpy(ops, one_large, sizeof ops);
    ops[0].bytes = 1;
    ops[1].bytes = 30;
    ops[10].reads = "bj";
    ops[11].reads = "k";
    rp_draw(ops, 12, &t.g);
    open_task(&t);
    for (uint64_t random = 1; random < 300; random++) {
        CU_ASSERT(perturb(&t, random));
        rp_drawn_check_rows(&t.to, 0, ".#...........");
        rp_drawn_check_rows(&t.to, 1, "..#....<###..");
    }
    close_task(&t);
}

/* If it may run again, it is made again for b2. Else it stays on the host meanwhile. */
static void a_tensor_on_the_host_comes_off_it(void) {
    struct rp_drawn_op ops[12];
    for (int once = 0; once < 2; once++) {
        struct task t;
        memcpy(ops, one_large, sizeof ops);
        ops[0].once = once != 0;
        rp_draw(ops, 12, &t.g);
        open_task(&t);
        rp_schedule_set(&t.from, 0, 2, 10, false);
        rp_schedule_set_in(&t.from, 0, 10, true);
        rp_schedule_set(&t.from, 0, 11, 11, true);
        CU_ASSERT(rp_schedule_cost(&t.p, &t.from).sound);
        CU_ASSERT(perturb(&t, 1));
        rp_drawn_check_rows(&t.to, 0, once ? ".#.....<####." : ".#.........#.");
        close_task(&t);
    }
}

/* Like it, with b and c on the host. If they have 12 bytes each, both leave the queue for
 * a, and if they have 30, one of them. */
static void check_queue(uint64_t bytes, uint32_t n_left) {
    struct rp_drawn_op ops[12];
    uint32_t held = 0, made_again = 0, n = 0;
    memcpy(ops, one_large, sizeof ops);
    ops[1].bytes = ops[2].bytes = bytes;
    ops[8].reads = "hc";
    ops[9].reads = "ib";
    struct task t;
    rp_draw(ops, 12, &t.g);
    open_task(&t);
    for (uint32_t x = 1; x < 3; x++) {
        rp_schedule_set(&t.from, x, x + 2, 10 - x, false);
        rp_schedule_set_in(&t.from, x, 10 - x, true);
    }
    CU_ASSERT(rp_schedule_cost(&t.p, &t.from).sound);
    for (uint64_t random = 1; random < 200; random++) {
        if (!perturb(&t, random) || !rp_swapped_in(&t.to, 7, 0))
            continue;
        n++;
        uint32_t left = 0;
        for (uint32_t x = 1; x < 3; x++) {
            bool leaves = !rp_swapped_in(&t.to, 10 - x, x);
            left += leaves;
            held += leaves && rp_held(&t.to, 6, x);
            made_again += leaves && !rp_held(&t.to, 6, x);
        }
        CU_ASSERT_EQUAL(left, n_left);
    }
    CU_ASSERT(n > 50 && held > n / 4 && made_again > n / 4);
    close_task(&t);
}
static void others_leave_its_queue(void) {
    check_queue(12, 2);
    check_queue(30, 1);
}

/* Copies as long as half of the gap leave no time for both. */
static void slow_copies_leave_nothing_to_draw(void) {
    struct rp_drawn_op ops[12];
    for (uint64_t bytes = 39; bytes <= 40; bytes++) {
        struct task t;
        memcpy(ops, one_large, sizeof ops);
        ops[0].bytes = bytes;
        rp_draw(ops, 12, &t.g);
        open_task(&t);
        CU_ASSERT_EQUAL(perturb(&t, 1), bytes == 39);
        close_task(&t);
    }
}

static void a_stop_ends_it(void) {
    volatile sig_atomic_t interrupted = 1;
    struct rp_stop stop = {&interrupted, INFINITY};
    struct task t;
    uint64_t random = 1;
    rp_draw(one_large, sizeof one_large / sizeof *one_large, &t.g);
    open_task(&t);
    CU_ASSERT_FALSE(rp_perturb(&t.p, &random, &stop, &t.from, &t.to));
    close_task(&t);
}

static void draw_random(struct task *t, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(12 + (uint32_t)(seed % 20));
    shape.training = true;
    shape.once_percent = seed % 3 == 0 ? 20 : 0;
    shape.keep_percent = seed % 4 * 5;
    rp_gen_graph(seed, &shape, &t->g);
    t->g.device.h2d_bytes_per_s = t->g.device.d2h_bytes_per_s =
        (shape.max_bytes * UINT64_C(2000000)) << seed % 6;
    open_task(t);
    if (seed % 2)
        rp_schedule_offload_all(&t->p, true, &t->from);
}

/* How many tensors `a` swaps and `b` does not. */
static uint32_t count_only_in(const struct rp_instance *p, const struct rp_schedule *a,
                              const struct rp_schedule *b) {
    uint64_t *in_a = rp_schedule_swapped(a), *in_b = rp_schedule_swapped(b);
    uint32_t n = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        n += (in_a[x / 64] & ~in_b[x / 64]) >> (x % 64) & 1;
    free(in_a);
    free(in_b);
    return n;
}

/* From keep-all one tensor goes to the host, from a schedule with everything there none. */
static void what_comes_out_is_sound(void) {
    uint32_t n = 400, n_found = 0;
    char digest[65] = "", words[80];
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task t;
        uint64_t random = seed + 1;
        draw_random(&t, seed);
        if (rp_perturb(&t.p, &random, NULL, &t.from, &t.to)) {
            struct rp_cost c = rp_schedule_cost(&t.p, &t.to);
            uint32_t came = count_only_in(&t.p, &t.to, &t.from);
            if (!c.sound || came != (seed % 2 == 0)) {
                rp_gen_failed(seed);
                CU_FAIL("what is on the host");
            }
            snprintf(words, sizeof words, "%" PRIu64 " %" PRIu64 " %" PRIu64, seed,
                     c.time_ns, c.peak_bytes);
            rp_digest_add(digest, words);
            n_found++;
        }
        close_task(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || n_found > 200);
    CU_ASSERT(rp_gen_one_seed() || strncmp(digest, "2118d60090aa", 12) == 0);
}

void suite_perturb(void) {
    RP_SUITE("perturb");
    RP_TEST(a_large_tensor_goes_to_the_host);
    RP_TEST(the_first_longest_gap_of_a_large_tensor_counts);
    RP_TEST(a_tensor_on_the_host_comes_off_it);
    RP_TEST(others_leave_its_queue);
    RP_TEST(slow_copies_leave_nothing_to_draw);
    RP_TEST(a_stop_ends_it);
    RP_TEST(what_comes_out_is_sound);
}
