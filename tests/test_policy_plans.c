/* Plans of the policies against plans worked out by hand, from the rules of each source as
 * the policy's file states them, on graphs small enough to draw (drawn.h). */
#include "drawn.h"
#include "run.h"

/* ---- a chain ---- */

/*  s -f1-> a -f2-> b -f3-> c -f4-> d
 *  w <-b1- z <-b2- y <-b3- x <-b4-'     b4 reads c and d, each other b what its f read */
static const struct rp_drawn_op chain[] = {
    {"f1", "relu", "s", "a", 40, 10}, {"f2", "relu", "a", "b", 40, 10},
    {"f3", "relu", "b", "c", 40, 10}, {"f4", "relu", "c", "d", 40, 10},
    {"b4", "relu", "cd", "x", 8, 20}, {"b3", "relu", "bx", "y", 8, 20},
    {"b2", "relu", "ay", "z", 8, 20}, {"b1", "relu", "sz", "w", 8, 20},
};

/* Keep-all holds a, b, c, d, x and the sample during b4: 169 bytes. The others have 130. */
static void plans_of_a_chain(void) {
    static const struct rp_drawn_plan plans[] = {
        {"keep-all", 169, "f1 f2 f3 f4 b4 -c -d b3 -b -x b2 -a -y b1 -z"},
        /* Two segments of two ops, since 2 = sqrt(4). Only b, on the border, is kept. */
        {"chen-sqrt", 130,
         "f1 f2 -a f3 f4 -c -d f3 f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        /* One checkpoint. Of the positions with the fewest steps, F(4, 1) = 4, it is the
         * first: a, after one step. What is behind it is reversed first, from a. */
        {"revolve", 130,
         "f1 f2 f3 -b f4 -c -d f2 f3 -b f4 b4 -c -d f2 b3 -b -x b2 -a -y b1 -z"},
        /* f4 needs room. h(a) = 10 / (40 * 11), since a was last used 10 ns ago. b and c
         * were used just now. */
        {"dtr", 130, "f1 f2 f3 -a f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        /* The inputs of f2, f3 and f4 are copied out as these run. Each layer's input comes
         * back during the layer before it, that of the first one at once. */
        {"vdnn-all", 130,
         "f1 >a f2 -a >b f3 -b >c f4 -c <c <b b4 -c -d <a b3 -b -x b2 -a -y "
         "b1 -z"},
        {"vdnn-conv", 169, "f1 f2 f3 f4 b4 -c -d b3 -b -x b2 -a -y b1 -z"},
        /* All layers are cheap. The four tensors of the segment take 160 bytes, more than
         * the largest layer, b4. So each use recomputes anew. */
        {"superneurons", 130,
         "f1 f2 -a f3 -b f4 -c -d f1 f2 -a f3 -b f4 b4 -c -d f1 f2 -a b3 "
         "-b -x f1 b2 -a -y b1 -z"},
        /* a would be exposed for 20 ns (60 ns between its uses, 80 ns of copies), so f1's
         * 10 ns are cheaper. b costs as much and comes after it. */
        {"capuchin", 130, "f1 f2 -a f3 f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        {"libra", 130, "f1 f2 -a f3 f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        /* The uses of a, f2 and b2, are the farthest apart. Its forward references are done
         * after f2. Its copy back would begin with b4, 40 ns before b2, but there is no
         * room until b3. */
        {"alibaba", 130, "f1 f2 >a f3 -a f4 b4 -c -d <a b3 -b -x b2 -a -y b1 -z"},
    };
    CHECK_ALL(chain, plans);
}

static void what_fits_as_it_is_is_left_alone(void) {
    static const char *const policies[] = {"alibaba", "capuchin", "chen-greedy", "dtr",
                                           "libra",   "revolve",  "superneurons"};
    struct rp_graph g;
    rp_draw(chain, 8, &g);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        rp_drawn_check(&g, policies[i], rp_drawn_options(169),
                       "f1 f2 f3 f4 b4 -c -d b3 -b -x b2 -a -y b1 -z");
    rp_graph_fini(&g);
}

/* ---- a chain of six ops, with copies as fast as forward ops ---- */

static void plans_of_a_long_chain(void) {
    static const struct rp_drawn_plan plans[] = {
        /* f5 evicts a, the stalest. Then f6 must choose: b is stale for 20 ns, but a is its
         * evicted neighbour, h(b) = (10 + 10) / (10 * 21); h(c) = 10 / (10 * 11). */
        {"dtr", 45,
         "f1 f2 f3 f4 -a f5 -c f6 b6 -e -f b5 -d -u f3 b4 -c -v b3 -b -x f1 b2 -a "
         "-y b1 -z"},
        /* Two checkpoints. F(6, 2) = 7 with the first after one step (a); of the five steps
         * behind it F(5, 1) = 6 with the second after two more (c). */
        {"revolve", 45,
         "f1 f2 f3 -b f4 f5 -d f6 -e -f f4 f5 -d f6 b6 -e -f f4 b5 -d -u b4 -c "
         "-v f2 b3 -b -x b2 -a -y b1 -z"},
        /* 100 ns lie between f2 and b2. a has the largest free time and costs nothing. */
        {"capuchin", 55,
         "f1 >a f2 -a f3 f4 f5 f6 b6 -e -f b5 -d -u b4 -c -v <a b3 -b -x b2 "
         "-a -y b1 -z"},
    };
    CHECK_ALL(rp_long_chain, plans);
}

/* ---- Alibaba's swaps ---- */

/* Of what is not used for long, b is used again the latest: f3 and b3 have five ops between
 * them, f4 and b4 three. It is out when f4 ends and comes back 10 ns before b3. */
static void alibaba_swaps_the_most_distant_uses_first(void) {
    static const struct rp_drawn_plan plans[] = {
        {"alibaba", 45,
         "f1 f2 f3 >b f4 -b f5 b5 -d -e <b b4 -c -u b3 -b -v b2 -a -x b1 -y"},
    };
    CHECK_ALL(rp_skip, plans);
}

/* ---- Libra ---- */

/* Four tensors made of the sample. 352 bytes are live in b4, 100 more than the budget. By
 * time per byte a (4 / 40), b (10 / 50) and c (18 / 60) are given up, 150 bytes. Refinement
 * begins with the most expensive: without c, 90 bytes are too few; without b, 100 are
 * enough; then a is needed. */
static void libra_keeps_the_most_expensive_again_that_fits(void) {
    static const struct rp_drawn_op star[] = {
        {"f1", "relu", "s", "a", 40, 4},  {"f2", "relu", "s", "b", 50, 10},
        {"f3", "relu", "s", "c", 60, 18}, {"f4", "relu", "s", "d", 200, 10},
        {"b4", "relu", "d", "x", 1, 20},  {"b3", "relu", "cx", "y", 1, 20},
        {"b2", "relu", "by", "z", 1, 20}, {"b1", "relu", "az", "w", 1, 20},
    };
    struct rp_graph g;
    struct rp_policy_options o = rp_drawn_options(252);
    rp_draw(star, 8, &g);
    rp_drawn_check(&g, "libra", o,
                   "f1 -a f2 f3 -c f4 b4 -d f3 b3 -c -x b2 -b -y f1 b1 -a -z");
    o.libra_no_refinement = true;
    rp_drawn_check(&g, "libra", o,
                   "f1 -a f2 -b f3 -c f4 b4 -d f3 b3 -c -x f2 b2 -b -y f1 b1 -a -z");
    rp_graph_fini(&g);
}

/* ---- attention ---- */

/*  s -f1-> a -f2-> b -f3-> c -f4-> d -softmax-> e -f6-> f -matmul-> g
 *
 * The softmax, what reads it, and three ops before it are attention: b to f are recomputed.
 * a is what they are made of, so it stays. 111 bytes are live in b7 otherwise. */
static void alibaba_recomputes_three_ops_before_the_softmax(void) {
    static const struct rp_drawn_op ops[] = {
        {"f1", "relu", "s", "a", 10, 10},    {"f2", "relu", "a", "b", 10, 10},
        {"f3", "relu", "b", "c", 10, 10},    {"f4", "relu", "c", "d", 10, 10},
        {"f5", "softmax", "d", "e", 10, 10}, {"f6", "relu", "e", "f", 10, 10},
        {"f7", "matmul", "fA", "g", 60, 10}, {"b7", "matmul", "gA", "t", 1, 20},
        {"b6", "relu", "eft", "u", 1, 20},   {"b5", "relu", "eu", "v", 1, 20},
        {"b4", "relu", "cv", "x", 1, 20},    {"b3", "relu", "bx", "y", 1, 20},
        {"b2", "relu", "ay", "z", 1, 20},    {"b1", "relu", "sz", "w", 1, 20},
    };
    static const struct rp_drawn_plan plans[] = {
        {"alibaba", 85,
         "f1 f2 f3 -b f4 -c f5 -d f6 -e f7 -f b7 -g f2 f3 f4 f5 -d f6 b6 -f -t b5 -e -u b4 "
         "-c -v b3 -b -x b2 -a -y b1 -z"},
        {"alibaba", 113,
         "f1 f2 f3 f4 f5 -d f6 f7 b7 -g b6 -f -t b5 -e -u b4 -c -v b3 -b -x b2 -a -y b1 "
         "-z"},
    };
    CHECK_ALL(ops, plans);
}

/* Nothing in the forward phase reads the softmax. What b3 makes of it is not attention, so
 * c, which b3 reads, is not held until x is used. f4 has room once e is gone. */
static void alibaba_looks_for_attention_in_the_forward_phase(void) {
    static const struct rp_drawn_op ops[] = {
        {"f1", "relu", "s", "a", 10, 10},    {"f2", "relu", "a", "c", 60, 10},
        {"f3", "softmax", "a", "e", 60, 10}, {"f4", "relu", "c", "d", 100, 10},
        {"b3", "relu", "ce", "x", 10, 20},   {"b2", "relu", "a", "y", 10, 20},
        {"b1", "relu", "xy", "w", 10, 20},
    };
    static const struct rp_drawn_plan plans[] = {
        {"alibaba", 200, "f1 f2 f3 -e f4 -d f3 b3 -c -e b2 -a b1 -x -y"},
    };
    CHECK_ALL(ops, plans);
}

/* ---- Capuchin's swaps ---- */

/* 62 bytes are live in b5. p is out just when b5 begins, at 50 ns, and is used again at
 * 130. That leaves 70 ns, more than the 40 of q, which is out 10 ns earlier. */
static void capuchin_swaps_what_is_out_just_in_time(void) {
    static const struct rp_drawn_op ops[] = {
        {"f1", "relu", "s", "q", 10, 10}, {"f2", "relu", "s", "p", 10, 10},
        {"f3", "relu", "q", "c", 1, 10},  {"f4", "relu", "p", "d", 1, 10},
        {"f5", "relu", "d", "e", 30, 10}, {"b5", "relu", "e", "x", 10, 20},
        {"b4", "relu", "cx", "y", 1, 20}, {"b3", "relu", "qy", "z", 1, 20},
        {"b2", "relu", "z", "v", 1, 20},  {"b1", "relu", "pv", "w", 1, 20},
    };
    static const struct rp_drawn_plan plans[] = {
        {"capuchin", 60,
         "f1 f2 >p f3 f4 -p f5 -d b5 -e b4 -c -x b3 -q -y <p b2 -z b1 -p -v"},
    };
    CHECK_ALL(ops, plans);
}

/* b5 takes no time. p, of 10 bytes, would be out as it begins, at 50 ns, and back at 60, in
 * time for b3: it is free for 0 ns. But first comes q, of 15 bytes, free for 20 ns, and
 * with it on the link p is 5 ns late. To run f2 again takes 2 ns. */
static void capuchin_asks_again_after_a_swap(void) {
    static const struct rp_drawn_op ops[] = {
        {"f1", "relu", "s", "q", 15, 18}, {"f2", "relu", "s", "p", 10, 2},
        {"f3", "relu", "q", "c", 1, 10},  {"f4", "relu", "p", "d", 1, 10},
        {"f5", "relu", "d", "e", 30, 10}, {"b5", "relu", "e", "x", 5, 0},
        {"b4", "relu", "x", "y", 1, 10},  {"b3", "relu", "py", "z", 1, 20},
        {"b2", "relu", "qz", "w", 1, 20},
    };
    static const struct rp_drawn_plan plans[] = {
        {"capuchin", 40,
         "f1 >q f2 f3 -c f4 -p -q f5 -d b5 -e b4 -x <q f2 b3 -p -y b2 -q -z"},
    };
    CHECK_ALL(ops, plans);
}

/* ---- the ends of sizes and times ---- */

static void chen_greedy_ends_where_there_is_nothing_to_divide(void) {
    static const struct rp_drawn_op ops[] = {{"f1", "relu", "s", "a", 0, 10},
                                             {"f2", "relu", "a", "b", 0, 10},
                                             {"b1", "relu", "ab", "w", 8, 20}};
    static const struct rp_drawn_plan plans[] = {{"chen-greedy", 8, "f1 f2 b1 -a -b"}};
    CHECK_ALL(ops, plans);
}

/* SuperNeurons runs f1 to f4 eleven times in all. */
static void a_plan_that_takes_too_long_is_refused(void) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    struct rp_policy_options o = rp_drawn_options(130);
    rp_draw(chain, 8, &g);
    for (uint32_t i = 0; i < 4; i++)
        g.ops[i].time_ns = UINT64_C(1) << 60;
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(&g, "g", &err), RP_OK);
    CU_ASSERT_EQUAL(
        rp_policy_plan(&g, rp_policy_find("superneurons"), &o, &plan, &report, &err),
        RP_INPUT);
    CU_ASSERT_STRING_EQUAL(err.msg, "the plan's time passes 2^63-1 ns");
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* ---- convolutions ---- */

/*  s -conv f1-> a -f2-> b -conv f3-> c -f4-> d     A and B are the convolutions' weights */
static const struct rp_drawn_op mixed[] = {
    {"f1", "conv", "sA", "a", 40, 40}, {"f2", "relu", "a", "b", 40, 10},
    {"f3", "conv", "bB", "c", 40, 40}, {"f4", "relu", "c", "d", 40, 10},
    {"b4", "relu", "cd", "x", 8, 20},  {"b3", "conv", "bBx", "y", 8, 80},
    {"b2", "relu", "ay", "z", 8, 20},  {"b1", "conv", "sAz", "w", 8, 80},
};

static void plans_of_convolutions(void) {
    static const struct rp_drawn_plan plans[] = {
        /* b alone is the input of a convolution. It comes back during the layer before. */
        {"vdnn-conv", 171, "f1 f2 >b f3 -b f4 <b b4 -c -d b3 -b -x b2 -a -y b1 -z"},
        /* a and c are made by convolutions and stay while they fit. b and d are cheap. */
        {"superneurons", 165, "f1 f2 f3 -b f4 -d f4 b4 -c -d f2 b3 -b -x b2 -a -y b1 -z"},
        /* a goes to the host. It would come back with b4, which needs c, but there is room
         * for it only with b3. */
        {"superneurons", 125,
         "f1 >a f2 f3 -b -a f4 -d f4 b4 -c -d <a f2 b3 -b -x b2 -a -y b1 -z"},
        /* a is free from 50 to 200 ns. Its copies take 80, and leave b4 alone. */
        {"capuchin", 165, "f1 >a f2 f3 -a f4 b4 -c -d <a b3 -b -x b2 -a -y b1 -z"},
        /* Per byte f2 is the cheapest to recompute. */
        {"libra", 165, "f1 f2 f3 -b f4 b4 -c -d f2 b3 -b -x b2 -a -y b1 -z"},
    };
    CHECK_ALL(mixed, plans);
}

/* b and d are made of a and c, which nothing reads in the backward phase. So they are
 * checkpoints, though a relu makes them. */
static void superneurons_recomputes_nothing_from_what_is_gone(void) {
    static const struct rp_drawn_op ops[] = {
        {"f1", "conv", "sA", "a", 40, 40}, {"f2", "relu", "a", "b", 40, 10},
        {"f3", "conv", "bB", "c", 40, 40}, {"f4", "relu", "c", "d", 40, 10},
        {"b4", "relu", "d", "x", 8, 20},   {"b3", "conv", "bBx", "y", 8, 80},
        {"b2", "relu", "by", "z", 8, 20},  {"b1", "conv", "sAz", "w", 8, 80},
    };
    static const struct rp_drawn_plan plans[] = {
        {"superneurons", 90, "f1 f2 -a >b f3 -b f4 -c b4 -d <b b3 -x b2 -b -y b1 -z"}};
    CHECK_ALL(ops, plans);
}

/* b and c take 70 bytes, less than the 80 of f2. So b stays from b4 to b3. */
static void superneurons_keeps_a_small_segment_that_it_has_recomputed(void) {
    static const struct rp_drawn_op ops[] = {
        {"f1", "conv", "sA", "a", 50, 40}, {"f2", "relu", "a", "b", 30, 10},
        {"f3", "relu", "b", "c", 40, 10},  {"f4", "conv", "cB", "d", 8, 40},
        {"f5", "conv", "dC", "e", 60, 40}, {"b5", "conv", "dCe", "u", 8, 80},
        {"b4", "conv", "cBu", "x", 8, 80}, {"b3", "relu", "bx", "y", 8, 20},
        {"b2", "relu", "ay", "z", 8, 20},  {"b1", "conv", "sAz", "w", 8, 80},
    };
    static const struct rp_drawn_plan plans[] = {
        {"superneurons", 155,
         "f1 f2 f3 -b f4 -c f5 b5 -d -e f2 f3 b4 -c -u b3 -b -x b2 -a -y b1 -z"}};
    CHECK_ALL(ops, plans);
}

/* There is room for a from b4 on, but it comes back with b3, which needs c. */
static void superneurons_fetches_a_tensor_where_the_next_one_is_needed(void) {
    static const struct rp_drawn_op ops[] = {
        {"f1", "conv", "sA", "a", 10, 40}, {"f2", "conv", "aB", "c", 10, 40},
        {"f3", "conv", "cC", "e", 10, 40}, {"f4", "relu", "e", "f", 60, 10},
        {"f5", "relu", "f", "g", 1, 10},   {"b4", "relu", "e", "u", 1, 20},
        {"b3", "conv", "cCu", "x", 1, 80}, {"b2", "conv", "aBx", "y", 1, 80},
        {"b1", "conv", "sAy", "w", 1, 80},
    };
    static const struct rp_drawn_plan plans[] = {
        {"superneurons", 90,
         "f1 >a f2 -a f3 f4 f5 -f -g b4 -e <a b3 -c -u b2 -a -x b1 -y"}};
    CHECK_ALL(ops, plans);
}

/* ---- Chen's greedy segments ---- */

/* As the chain, with sizes a 10, b 70, c 40 and d 10. A segment ends where the sum has
 * passed b: for 10 <= b < 40 after f2 and f3, which takes 129 bytes; for 80 <= b < 120
 * after f3 only, which takes 111. Each cut alone would be faster, but takes 139. */
static void chen_greedy_ends_segments_by_size(void) {
    static const struct rp_drawn_op uneven[] = {
        {"f1", "relu", "s", "a", 10, 10}, {"f2", "relu", "a", "b", 70, 10},
        {"f3", "relu", "b", "c", 40, 10}, {"f4", "relu", "c", "d", 10, 10},
        {"b4", "relu", "cd", "x", 8, 20}, {"b3", "relu", "bx", "y", 8, 20},
        {"b2", "relu", "ay", "z", 8, 20}, {"b1", "relu", "sz", "w", 8, 20},
    };
    static const struct rp_drawn_plan plans[] = {
        {"chen-greedy", 129, "f1 f2 -a f3 f4 -d f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        {"chen-greedy", 128,
         "f1 f2 -a f3 -b f4 -d f4 b4 -c -d f1 f2 b3 -b -x b2 -a -y b1 -z"},
        {"chen-greedy", 111,
         "f1 f2 -a f3 -b f4 -d f4 b4 -c -d f1 f2 b3 -b -x b2 -a -y b1 -z"},
    };
    CHECK_ALL(uneven, plans);
}

void suite_policy_plans(void) {
    RP_SUITE("policy_plans");
    RP_TEST(plans_of_a_chain);
    RP_TEST(what_fits_as_it_is_is_left_alone);
    RP_TEST(plans_of_a_long_chain);
    RP_TEST(alibaba_swaps_the_most_distant_uses_first);
    RP_TEST(libra_keeps_the_most_expensive_again_that_fits);
    RP_TEST(alibaba_recomputes_three_ops_before_the_softmax);
    RP_TEST(alibaba_looks_for_attention_in_the_forward_phase);
    RP_TEST(capuchin_swaps_what_is_out_just_in_time);
    RP_TEST(capuchin_asks_again_after_a_swap);
    RP_TEST(chen_greedy_ends_where_there_is_nothing_to_divide);
    RP_TEST(a_plan_that_takes_too_long_is_refused);
    RP_TEST(plans_of_convolutions);
    RP_TEST(superneurons_recomputes_nothing_from_what_is_gone);
    RP_TEST(superneurons_keeps_a_small_segment_that_it_has_recomputed);
    RP_TEST(superneurons_fetches_a_tensor_where_the_next_one_is_needed);
    RP_TEST(chen_greedy_ends_segments_by_size);
}
