#include "solve/local/shrink_lifetimes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fixture.h"
#include "gen.h"
#include "run.h"
#include "solve/core/plan_claims.h"

/* Ops a b c d f e take 10 30 30 30 30 40 ns and make x y z u t v. Each reads the output of
 * the one before; e reads x and y as well. A swap-out takes 26 ns, a swap-in 18. */
static const char row[] =
    "{'format':'remat-graph','version':1,'name':'row','time_source':'imported:test',"
    "'device':{'alignment_bytes':4,'h2d_bytes_per_s':1000000000,"
    "'d2h_bytes_per_s':500000000,'copy_latency_ns':10},'tensors':["
    "{'name':'x','bytes':8,'kind':'activation'},{'name':'y','bytes':8,'kind':'activation'},"
    "{'name':'z','bytes':8,'kind':'activation'},{'name':'u','bytes':8,'kind':'activation'},"
    "{'name':'t','bytes':8,'kind':'activation'},{'name':'v','bytes':8,'kind':'gradient'}],"
    "'ops':[{'name':'a','kind':'k','inputs':[],'outputs':[0],'time_ns':10},"
    "{'name':'b','kind':'k','inputs':[0],'outputs':[1],'time_ns':30},"
    "{'name':'c','kind':'k','inputs':[1],'outputs':[2],'time_ns':30},"
    "{'name':'d','kind':'k','inputs':[2],'outputs':[3],'time_ns':30},"
    "{'name':'f','kind':'k','inputs':[3],'outputs':[4],'time_ns':30},"
    "{'name':'e','kind':'k','inputs':[0,1,4],'outputs':[5],'time_ns':40}],'keep':[5]}";

/* Writes the steps as letters: a b c d f e for runs; O (swap-out), I (swap-in) and F
 * (free), each followed by the tensor. */
static void spell(const struct rp_plan *p, char *text) {
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct rp_step *s = &p->steps.at[i];
        *text++ = s->kind == RP_RUN        ? "abcdfe"[s->id]
                  : s->kind == RP_FREE     ? 'F'
                  : s->kind == RP_SWAP_OUT ? 'O'
                                           : 'I';
        if (s->kind != RP_RUN)
            *text++ = "xyzutv"[s->id];
    }
    *text = '\0';
}

static void shortened(const char *steps, const char *expected) {
    struct rp_world w;
    char text[64];
    rp_world_open(&w, row, SUM, steps);
    rp_shrink_lifetimes(&w.g, &w.p);
    spell(&w.p, text);
    CU_ASSERT_STRING_EQUAL(text, expected);
    rp_world_close(&w);
}

#define A_OUT "{'run':0},{'swap_out':0},"
#define B_OUT "{'run':1},{'swap_out':1},"
#define REST "{'run':3},{'free':2},{'run':4},{'free':3},{'run':5}"

/* The swap-out of x ends at 36 and that of y at 66. e begins at 130, so y must be swapped
 * in at 112 and x at 94. c, d and f begin at 40, 70 and 100. */
static void storage_is_held_only_while_a_copy_or_run_needs_it(void) {
    shortened(A_OUT B_OUT
              "{'run':2},{'free':0},{'free':1},{'swap_in':0},{'swap_in':1}," REST,
              "aOxbFxOycFyIxdFzIyfFue");
}

/* c runs again when the copy ends at 96, in the stage of d. d does not read x. */
static void a_free_that_waits_for_a_copy_moves_to_the_start_of_a_stage(void) {
    shortened("{'run':0},{'run':1},{'run':2},{'swap_out':0},{'run':2},{'run':3},{'run':4},"
              "{'free':0},{'swap_in':0},{'run':5}",
              "abcOxcdFxfIxe");
}

struct tally {
    size_t n_moved, n_smaller;
};

static bool only_lifetimes_shrink(uint64_t seed, struct tally *tally) {
    struct rp_graph g;
    struct rp_plan p;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)(seed % 40));
    shape.bandwidths = true;
    shape.training = seed % 2 == 0;
    rp_gen_graph(seed, &shape, &g);
    rp_gen_plan(seed, &g, false, &p);
    bool ok = rp_plan_fill_claims(&g, &p, &err) == RP_OK;
    struct rp_claims before = p.claims;
    struct rp_step *steps = rp_calloc(p.steps.n, sizeof *steps);
    memcpy(steps, p.steps.at, p.steps.n * sizeof *steps);
    rp_shrink_lifetimes(&g, &p);
    ok = ok && rp_plan_fill_claims(&g, &p, &err) == RP_OK &&
         rp_verify(&g, &p, &v, &err) == RP_OK && p.claims.time_ns == before.time_ns &&
         p.claims.stall_ns == before.stall_ns && p.claims.peak_bytes <= before.peak_bytes;
    for (size_t i = 0; i < p.steps.n; i++)
        tally->n_moved +=
            steps[i].kind != p.steps.at[i].kind || steps[i].id != p.steps.at[i].id;
    tally->n_smaller += p.claims.peak_bytes < before.peak_bytes;
    free(steps);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

static void plans_stay_valid_and_as_fast_without_a_higher_peak(void) {
    struct tally tally = {0};
    uint32_t n = 500;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!only_lifetimes_shrink(seed, &tally)) {
            rp_gen_failed(seed);
            CU_FAIL("another time, a higher peak, or a plan that verify rejects");
        }
    CU_ASSERT(rp_gen_one_seed() || (tally.n_moved > 1000 && tally.n_smaller > 10));
}

void suite_shrink_lifetimes(void) {
    RP_SUITE("shrink_lifetimes");
    RP_TEST(storage_is_held_only_while_a_copy_or_run_needs_it);
    RP_TEST(a_free_that_waits_for_a_copy_moves_to_the_start_of_a_stage);
    RP_TEST(plans_stay_valid_and_as_fast_without_a_higher_peak);
}
