/* Tests of the order of copies, on a graph whose copies and ops are drawn by hand. */
#include "solve/exchange/order_copies.h"

#include "chain.h"
#include "model/timeline.h"
#include "run.h"

static size_t place_of(const struct rp_plan *plan, enum rp_step_kind kind, uint32_t id) {
    size_t i = 0;
    while (i < plan->steps.n &&
           (plan->steps.at[i].kind != kind || plan->steps.at[i].id != id))
        i++;
    return i;
}

/* Copies take 133 ns, and f1 to f8 take 10, 20, .. 80 ns. a1, a2 and a3 are copied out in
 * this order, so the free of a3 before f7, at 210 ns, waits until 409 ns. If a3 goes before
 * a2, it waits until 276 ns, and f8 ends at 426 ns. */
static void the_copy_that_is_due_first_goes_first(void) {
    static const struct rp_step steps[] = {
        {RP_RUN, 0},      {RP_SWAP_OUT, 1}, {RP_RUN, 1},  {RP_SWAP_OUT, 2}, {RP_RUN, 2},
        {RP_SWAP_OUT, 3}, {RP_RUN, 3},      {RP_RUN, 4},  {RP_RUN, 5},      {RP_FREE, 3},
        {RP_RUN, 6},      {RP_RUN, 7},      {RP_FREE, 1}, {RP_FREE, 2}};
    struct rp_graph g;
    struct rp_plan plan;
    uint32_t outs[3], n = 0;
    rp_chain_load(&g);
    rp_chain_plan(&g, steps, sizeof steps / sizeof *steps, &plan);
    CU_ASSERT_EQUAL(rp_order_copies(&g, &plan), 426);
    for (size_t i = 0; i < plan.steps.n; i++)
        if (plan.steps.at[i].kind == RP_SWAP_OUT)
            outs[n++] = plan.steps.at[i].id;
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT(outs[0] == g.ops[0].outputs[0] && outs[1] == g.ops[2].outputs[0] &&
              outs[2] == g.ops[1].outputs[0]);
    CU_ASSERT_EQUAL(rp_order_copies(&g, &plan), 426);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* A copy that nothing waits for goes last, and none is lost. */
static void a_copy_that_is_never_due_goes_last(void) {
    static const struct rp_step steps[] = {
        {RP_RUN, 0},      {RP_SWAP_OUT, 1}, {RP_RUN, 1}, {RP_SWAP_OUT, 2},
        {RP_RUN, 2},      {RP_SWAP_OUT, 3}, {RP_RUN, 3}, {RP_RUN, 4},
        {RP_RUN, 5},      {RP_FREE, 3},     {RP_RUN, 6}, {RP_RUN, 7},
        {RP_SWAP_OUT, 5}, {RP_SWAP_OUT, 6}};
    enum { N = sizeof steps / sizeof *steps };
    struct rp_graph g;
    struct rp_plan plan;
    rp_chain_load(&g);
    rp_chain_plan(&g, steps, N, &plan);
    uint64_t before_ns = rp_steps_time_ns(&g, plan.steps.at, N);
    CU_ASSERT(rp_order_copies(&g, &plan) < before_ns);
    CU_ASSERT(place_of(&plan, RP_SWAP_OUT, 3) < place_of(&plan, RP_SWAP_OUT, 2));
    for (size_t i = 0; i < N; i++) {
        uint32_t id =
            steps[i].kind == RP_RUN ? steps[i].id : g.ops[steps[i].id - 1].outputs[0];
        CU_ASSERT(place_of(&plan, steps[i].kind, id) < N);
    }
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* a1 and a2 come back from b4 on. b3 reads a2 before b2 reads a1, and a3 is not read. */
static void a_copy_in_that_is_read_first_goes_first(void) {
    static const struct rp_step steps[] = {
        {RP_RUN, 0},  {RP_SWAP_OUT, 1}, {RP_RUN, 1},     {RP_SWAP_OUT, 2}, {RP_RUN, 2},
        {RP_RUN, 3},  {RP_RUN, 4},      {RP_RUN, 5},     {RP_RUN, 6},      {RP_FREE, 1},
        {RP_FREE, 2}, {RP_RUN, 7},      {RP_RUN, 8},     {RP_RUN, 9},      {RP_RUN, 10},
        {RP_RUN, 11}, {RP_SWAP_IN, 1},  {RP_SWAP_IN, 2}, {RP_RUN, 12},     {RP_RUN, 13},
        {RP_RUN, 14}, {RP_RUN, 15},     {RP_SWAP_IN, 3}};
    enum { N = sizeof steps / sizeof *steps };
    struct rp_graph g;
    struct rp_plan plan;
    rp_chain_load(&g);
    rp_chain_plan(&g, steps, N, &plan);
    uint64_t before_ns = rp_steps_time_ns(&g, plan.steps.at, N);
    uint64_t after_ns = rp_order_copies(&g, &plan);
    CU_ASSERT(before_ns == 1399 && after_ns == 1339);
    CU_ASSERT(place_of(&plan, RP_SWAP_IN, 2) < place_of(&plan, RP_SWAP_IN, 1));
    CU_ASSERT(place_of(&plan, RP_SWAP_IN, 1) < place_of(&plan, RP_RUN, 14));
    CU_ASSERT(place_of(&plan, RP_SWAP_IN, 3) < N);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* What the given copies out take in the best order, at 130 ns each. */
static uint64_t ordered_ns(const struct rp_step *steps, size_t n) {
    struct rp_graph g;
    struct rp_plan plan;
    rp_chain_load(&g);
    g.device.copy_latency_ns = 2;
    rp_chain_plan(&g, steps, n, &plan);
    uint64_t time_ns = rp_order_copies(&g, &plan);
    CU_ASSERT_EQUAL(time_ns, rp_steps_time_ns(&g, plan.steps.at, n));
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
    return time_ns;
}

/* The queue stays idle until a2 is there, at 30 ns, and is busy from then on, with five
 * copies. Nothing waits for a1 and a3, and neither of them waits for the other. */
static void a_copy_waits_only_for_more_urgent_ones(void) {
    static const struct rp_step steps[] = {
        {RP_RUN, 0}, {RP_SWAP_OUT, 1}, {RP_RUN, 1},      {RP_SWAP_OUT, 2},
        {RP_RUN, 2}, {RP_RUN, 3},      {RP_FREE, 2},     {RP_SWAP_OUT, 4},
        {RP_RUN, 4}, {RP_SWAP_OUT, 3}, {RP_RUN, 5},      {RP_FREE, 4},
        {RP_RUN, 6}, {RP_RUN, 7},      {RP_SWAP_OUT, 6}, {RP_RUN, 8}};
    CU_ASSERT_EQUAL(ordered_ns(steps, sizeof steps / sizeof *steps), 30 + 5 * 130);
}

/* A copy that ends just when a more urgent one may begin is not in its way. If it waited,
 * the last one would end 20 ns later. */
static void a_copy_that_ends_in_time_does_not_wait(void) {
    static const struct rp_step steps[] = {
        {RP_RUN, 0},  {RP_SWAP_OUT, 1}, {RP_RUN, 1},      {RP_SWAP_OUT, 2},
        {RP_RUN, 2},  {RP_SWAP_OUT, 3}, {RP_RUN, 3},      {RP_RUN, 4},
        {RP_FREE, 3}, {RP_RUN, 5},      {RP_SWAP_OUT, 5}, {RP_RUN, 6},
        {RP_FREE, 5}, {RP_SWAP_OUT, 6}, {RP_RUN, 7},      {RP_RUN, 8}};
    CU_ASSERT_EQUAL(ordered_ns(steps, sizeof steps / sizeof *steps), 750);
}

/* b3 reads a2 and a3, so it waits for both of them, but not for a4. */
static void all_copies_that_an_op_waits_for_go_before_it(void) {
    static const struct rp_step steps[] = {
        {RP_RUN, 0},      {RP_SWAP_OUT, 1}, {RP_RUN, 1},  {RP_SWAP_OUT, 2}, {RP_RUN, 2},
        {RP_SWAP_OUT, 3}, {RP_RUN, 3},      {RP_RUN, 4},  {RP_RUN, 5},      {RP_RUN, 6},
        {RP_RUN, 7},      {RP_FREE, 1},     {RP_FREE, 2}, {RP_RUN, 8},      {RP_RUN, 9},
        {RP_RUN, 10},     {RP_RUN, 11},     {RP_RUN, 12}, {RP_FREE, 3},     {RP_SWAP_IN, 4},
        {RP_SWAP_IN, 2},  {RP_SWAP_IN, 3},  {RP_RUN, 13}, {RP_RUN, 14},     {RP_RUN, 15}};
    struct rp_graph g;
    struct rp_plan plan;
    rp_chain_load(&g);
    rp_chain_plan(&g, steps, sizeof steps / sizeof *steps, &plan);
    rp_order_copies(&g, &plan);
    size_t reader = place_of(&plan, RP_RUN, 13);
    CU_ASSERT(place_of(&plan, RP_SWAP_IN, 2) < reader);
    CU_ASSERT(place_of(&plan, RP_SWAP_IN, 3) < reader);
    CU_ASSERT(place_of(&plan, RP_SWAP_IN, 2) < place_of(&plan, RP_SWAP_IN, 4));
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

void suite_order_copies(void) {
    RP_SUITE("order_copies");
    RP_TEST(the_copy_that_is_due_first_goes_first);
    RP_TEST(a_copy_that_is_never_due_goes_last);
    RP_TEST(a_copy_in_that_is_read_first_goes_first);
    RP_TEST(a_copy_waits_only_for_more_urgent_ones);
    RP_TEST(a_copy_that_ends_in_time_does_not_wait);
    RP_TEST(all_copies_that_an_op_waits_for_go_before_it);
}
