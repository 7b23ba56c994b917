/* Tests of solve/incremental: moves and their time line on graphs small enough to follow by
 * hand, and the limits of a move. */
#include <stdio.h>
#include <stdlib.h>

#include "drawn.h"
#include "fixture.h"
#include "run.h"
#include "solve/incremental/incremental.h"
#include "solve/incremental/incremental_check.h"
#include "solve/incremental/incremental_evaluate.h"
#include "solve/incremental/incremental_internal.h"
#include "solve/incremental/incremental_timeline.h"

struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_incremental s;
};

static void task_fini(struct task *k) {
    rp_incremental_fini(&k->s);
    rp_instance_fini(&k->p);
    rp_graph_fini(&k->g);
}

static bool is_right(const struct task *k) {
    struct rp_incremental_fault fault;
    return rp_incremental_check(&k->s, &fault);
}

/* ---- the time line, by hand ---- */

static void draw_task(struct task *k, const struct rp_drawn_op *ops, size_t n_ops,
                      struct rp_schedule *all) {
    rp_draw(ops, n_ops, &k->g);
    rp_instance_init(&k->p, &k->g, 1000, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&k->p, RP_MAX_QUANTITY));
    rp_schedule_keep_all(&k->p, all);
    rp_incremental_init(&k->s, &k->p);
}

/* Nothing holds x from row `last` on until stage `in`, which swaps it in. */
static void send_away(struct rp_schedule *s, uint32_t x, uint32_t last, uint32_t in) {
    rp_schedule_set(s, x, last + 1, in, false);
    rp_schedule_set_in(s, x, in, true);
}

/* f5 makes y again. Copies out: a 10..70, b 70..270, c 270..300, l 300..340. Stage 6 frees
 * b, stage 7 the others. */
static const struct rp_drawn_op queue[] = {
    {"f1", "conv", "s", "a", 60, 10},   {"f2", "conv", "s", "b", 200, 10},
    {"f3", "conv", "s", "y", 1, 30},    {"f4", "conv", "s", "c", 30, 10},
    {"f5", "conv", "y", "l", 40, 10},   {"f6", "conv", "s", "u", 1, 10},
    {"f7", "conv", "s", "v", 1, 10},    {"f8", "conv", "s", "w", 1, 10},
    {"b1", "conv", "abcl", "g", 1, 10},
};
enum { QUEUE_A, QUEUE_B, QUEUE_Y, QUEUE_C, QUEUE_L };

/* Without the second run of f3 and the copy of c, which take 30 each, the queue of copies
 * and the copy of l are as before once f5 has run, and that of a is over. That of b is not
 * as before. */
static void all_copies_under_way_are_compared_with_those_before_the_move(void) {
    struct task k;
    struct rp_schedule s;
    draw_task(&k, queue, sizeof queue / sizeof *queue, &s);
    send_away(&s, QUEUE_A, 7, 8);
    send_away(&s, QUEUE_B, 6, 8);
    send_away(&s, QUEUE_C, 7, 8);
    send_away(&s, QUEUE_L, 7, 8);
    rp_schedule_set(&s, QUEUE_Y, 3, 4, false);
    rp_incremental_load(&k.s, &s);
    CU_ASSERT_EQUAL(k.s.swaps.stage_stall_ns[6], 270 - 110);
    rp_incremental_begin(&k.s);
    rp_incremental_flip(&k.s, QUEUE_Y, 3, 4, true);
    rp_incremental_flip_swap_in(&k.s, QUEUE_C, 8, false);
    rp_incremental_flip(&k.s, QUEUE_C, 8, 8, true);
    CU_ASSERT(rp_incremental_evaluate(&k.s, 1, 1e30, false));
    rp_incremental_commit(&k.s);
    CU_ASSERT_EQUAL(k.s.swaps.stage_stall_ns[6], 270 - 80);
    CU_ASSERT(is_right(&k));
    rp_schedule_fini(&s);
    task_fini(&k);
}

/* f1 makes a, which f2 reads, and then b5 after it came back. */
static void move_away(struct task *k, uint64_t bytes, uint32_t last, uint32_t in) {
    const struct rp_drawn_op ops[] = {
        {"f1", "conv", "s", "a", bytes, 10}, {"f2", "conv", "a", "b", 1, 20},
        {"f3", "conv", "b", "c", 1, 30},     {"f4", "conv", "c", "d", 1, 30},
        {"f5", "conv", "d", "e", 1, 30},     {"b5", "conv", "ae", "g", 1, 10},
    };
    struct rp_schedule all;
    draw_task(k, ops, sizeof ops / sizeof *ops, &all);
    rp_incremental_load(&k->s, &all);
    rp_schedule_fini(&all);
    rp_incremental_begin(&k->s);
    rp_incremental_flip(&k->s, 0, last + 1, in, false);
    rp_incremental_flip_swap_in(&k->s, 0, in, true);
    CU_ASSERT(rp_incremental_evaluate(&k->s, 1, 1e30, false));
}

/* The copy out begins at 10, and a is freed at 30. */
static void nothing_is_shifted_where_copies_end_just_in_time(void) {
    for (uint64_t late_ns = 0; late_ns < 2; late_ns++) {
        struct task k;
        move_away(&k, 20 + late_ns, 2, 4);
        CU_ASSERT_EQUAL(k.s.new_time_ns, 130 + late_ns);
        CU_ASSERT_EQUAL(rp_incremental_timeline_shift(&k.s), late_ns > 0);
        rp_incremental_undo(&k.s);
        task_fini(&k);
    }
}

/* The copy out takes 10..90. The free after f2, at 30, waits for it; one at 90 does not. */
static void a_free_that_stalls_is_made_later(void) {
    struct task k;
    move_away(&k, 80, 1, 5);
    CU_ASSERT_EQUAL(k.s.new_time_ns, 270);
    CU_ASSERT(rp_incremental_timeline_shift(&k.s));
    for (uint32_t t = 1; t <= 5; t++)
        CU_ASSERT_EQUAL(rp_incremental_held(&k.s, t, 0), t <= 4);
    CU_ASSERT(rp_incremental_evaluate(&k.s, 1, 1e30, false));
    CU_ASSERT_EQUAL(k.s.new_time_ns, 210); /* b5 waits for the copy in, 120..200 */
    rp_incremental_undo(&k.s);
    task_fini(&k);
}

/* ---- limits of a move ---- */

/* Frees x, which f1 makes in 10 ns, until b5 needs it again. */
static bool make_again(struct task *k, double max_rise_ns) {
    rp_incremental_begin(&k->s);
    rp_incremental_flip(&k->s, 0, 2, 5, false);
    bool accepted = rp_incremental_evaluate(&k->s, 1, max_rise_ns, false);
    rp_incremental_undo(&k->s);
    return accepted;
}

static bool move_away_again(struct task *k, double max_rise_ns) {
    rp_incremental_begin(&k->s);
    rp_incremental_flip(&k->s, 0, 3, 4, false);
    rp_incremental_flip_swap_in(&k->s, 0, 4, true);
    bool accepted = rp_incremental_evaluate(&k->s, 1, max_rise_ns, false);
    rp_incremental_undo(&k->s);
    return accepted;
}

/* The copy out takes 1 ns too long. */
static void a_move_may_rise_just_as_much_as_it_is_allowed(void) {
    struct task k;
    move_away(&k, 21, 2, 4);
    rp_incremental_undo(&k.s);
    CU_ASSERT(make_again(&k, 10) && !make_again(&k, 9.5));
    CU_ASSERT(move_away_again(&k, 1) && !move_away_again(&k, 0.5));
    rp_incremental_fini(&k.s);
    task_fini(&k); /* it is zero */
}

static void nothing_is_swapped_in_as_it_is_made(void) {
    struct task k;
    move_away(&k, 20, 2, 4);
    rp_incremental_undo(&k.s);
    for (uint32_t t = 1; t <= 3; t++) { /* f2 makes b in stage 1, f3 reads it in stage 2 */
        rp_incremental_begin(&k.s);
        rp_incremental_flip(&k.s, 1, 2, 2, t == 1);
        rp_incremental_flip_swap_in(&k.s, 1, t, true);
        CU_ASSERT_EQUAL(k.s.infeasible, t == 1);
        rp_incremental_undo(&k.s);
    }
    task_fini(&k);
}

/* A graph of n ops: all others read what the first one makes. */
static void read_by_all(uint32_t n, struct rp_graph *g) {
    struct rp_err err = {{0}};
    char *text = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&text, &length);
    fprintf(f, "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\","
               "\"time_source\":\"imported:test\",\"keep\":[],\"tensors\":[");
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%s{\"name\":\"x%u\",\"bytes\":1,\"kind\":\"activation\"}",
                i > 0 ? "," : "", i);
    fprintf(f, "],\"ops\":[");
    for (uint32_t i = 0; i < n; i++)
        fprintf(f,
                "%s{\"name\":\"f%u\",\"kind\":\"k\",\"inputs\":[%s],\"outputs\":[%u],"
                "\"time_ns\":1}",
                i > 0 ? "," : "", i, i > 0 ? "0" : "", i);
    fprintf(f, "]}");
    fclose(f);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, length, "g", g, &err), RP_OK);
    free(text);
}

static void a_move_that_changes_too_many_stages_is_given_up(void) {
    struct rp_schedule all;
    struct task k;
    uint32_t n = RP_MAX_DIRTY + 1;
    read_by_all(n, &k.g);
    rp_instance_init(&k.p, &k.g, 1000, false, NULL);
    rp_incremental_init(&k.s, &k.p);
    rp_schedule_keep_all(&k.p, &all);
    rp_incremental_load(&k.s, &all);
    for (uint32_t fewer = 0; fewer < 2; fewer++) {
        rp_incremental_begin(&k.s);
        rp_incremental_flip(&k.s, 0, 1 + fewer, n - 1, false);
        CU_ASSERT_EQUAL(k.s.infeasible, fewer == 0);
        CU_ASSERT_EQUAL(rp_incremental_evaluate(&k.s, 1, 1e30, false), fewer == 1);
        rp_incremental_undo(&k.s);
        CU_ASSERT(is_right(&k));
    }
    rp_schedule_fini(&all);
    task_fini(&k);
}

/* Nothing uses the source w, so that it lives on the host without a copy. */
static void a_source_that_nothing_uses_needs_room_on_the_host(void) {
    static const char graph[] =
        "{'format':'remat-graph','version':2,'name':'g','time_source':'imported:test',"
        "'device':{'alignment_bytes':1,'h2d_bytes_per_s':1000000000,"
        "'d2h_bytes_per_s':1000000000},'keep':[],'tensors':["
        "{'name':'w','bytes':8,'kind':'parameter','home':'any'},"
        "{'name':'x','bytes':1,'kind':'activation'}],'ops':["
        "{'name':'f','kind':'k','inputs':[],'outputs':[1],'time_ns':10}]}";
    for (uint64_t host_bytes = 7; host_bytes <= 8; host_bytes++) {
        struct rp_world w;
        struct rp_schedule all;
        struct rp_instance p;
        struct rp_incremental s;
        rp_world_open(&w, graph, SUM, "");
        rp_instance_init_homes(&p, &w.g, 100, false, NULL);
        CU_ASSERT(rp_instance_allow_swap(&p, host_bytes));
        rp_incremental_init(&s, &p);
        rp_schedule_keep_all(&p, &all);
        rp_incremental_load(&s, &all);
        rp_incremental_begin(&s);
        rp_incremental_flip_stay(&s, 0, false);
        CU_ASSERT_EQUAL(rp_incremental_evaluate(&s, 1, 1e30, false), host_bytes == 8);
        CU_ASSERT_EQUAL(s.swaps.n_copies, 0);
        rp_incremental_undo(&s);
        rp_schedule_fini(&all);
        rp_incremental_fini(&s);
        rp_instance_fini(&p);
        rp_world_close(&w);
    }
}

void suite_incremental_moves(void) {
    RP_SUITE("incremental_moves");
    RP_TEST(all_copies_under_way_are_compared_with_those_before_the_move);
    RP_TEST(nothing_is_shifted_where_copies_end_just_in_time);
    RP_TEST(a_free_that_stalls_is_made_later);
    RP_TEST(a_move_may_rise_just_as_much_as_it_is_allowed);
    RP_TEST(nothing_is_swapped_in_as_it_is_made);
    RP_TEST(a_move_that_changes_too_many_stages_is_given_up);
    RP_TEST(a_source_that_nothing_uses_needs_room_on_the_host);
}
