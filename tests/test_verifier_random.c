/* Compares the verdicts of the checker and of the naive checker (naive.h) on random plans.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gen.h"
#include "naive.h"
#include "run.h"
#include "verify/verifier.h"

static bool agree(const struct rp_graph *g, const struct rp_plan *p, unsigned *valid) {
    struct rp_verdict v;
    struct rp_err err = {{0}};
    bool yes = rp_verify(g, p, &v, &err) == RP_OK, naive = rp_naive_valid(g, p);
    if (yes != naive)
        printf("rp_verify: %s; naive: %s\n", yes ? "valid" : err.msg,
               naive ? "valid" : "rejected");
    *valid += yes;
    return yes == naive;
}

/* Makes a random valid plan for a random graph, and then changes it many times. */
static bool verdicts_agree(uint64_t seed, unsigned *valid) {
    struct rp_rng r = {seed};
    struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)rp_rng_below(&r, 10));
    struct rp_graph g;
    struct rp_plan p;
    unsigned first = 0;
    shape.alignment_bytes = rp_rng_percent(&r, 30) ? 1 : 512;
    shape.version_2 = seed % 2 == 0;
    shape.n_sources = shape.version_2 ? 4 : shape.n_sources;
    rp_gen_graph(seed, &shape, &g);
    rp_gen_plan(seed, &g, rp_rng_percent(&r, 60), &p);
    rp_naive_steps(&g, &p, &p.claims);
    bool ok = agree(&g, &p, &first);
    if (first == 0)
        printf("a generated plan was rejected\n");
    rp_plan_fini(&p);
    for (int k = 0; k < 10 && ok && first == 1; k++) {
        rp_gen_plan(seed, &g, rp_rng_percent(&r, 60), &p);
        for (uint64_t n = 1 + rp_rng_below(&r, 2); n > 0 && p.steps.n > 0; n--)
            rp_gen_change(&r, &g, &p);
        rp_naive_steps(&g, &p, &p.claims);
        ok = agree(&g, &p, valid);
        rp_plan_fini(&p);
    }
    rp_graph_fini(&g);
    return ok && first == 1;
}

static void random_plans_get_the_same_verdict_from_the_naive_checker(void) {
    uint32_t n = 300;
    unsigned valid = 0, of = 10 * n;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!verdicts_agree(seed, &valid)) {
            rp_gen_failed(seed);
            CU_FAIL("the verdicts differ");
        }
    /* If all changes were fatal, or all harmless, this would test little. */
    CU_ASSERT(rp_gen_one_seed() || (valid > of / 20 && valid < of / 2));
}

/* The highest ends of addresses in arena and slab, taken from the steps; 0 without
 * addresses. */
static void find_max_ends(const struct rp_graph *g, const struct rp_plan *p,
                          uint64_t *arena, uint64_t *slab) {
    uint64_t unit = g->device.alignment_bytes;
    *arena = *slab = 0;
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct rp_step *s = &p->steps.at[i];
        const struct rp_op *op = s->kind == RP_RUN ? &g->ops[s->id] : NULL;
        uint64_t *max_end = s->kind == RP_SWAP_OUT ? slab : arena;
        uint64_t bytes = op != NULL           ? op->workspace_bytes
                         : s->kind != RP_FREE ? g->tensors[s->id].bytes
                                              : 0;
        uint64_t end = s->address + (bytes + unit - 1) / unit * unit;
        if (s->address != RP_NO_ADDRESS && end > *max_end)
            *max_end = end;
        for (uint32_t k = 0; s->has_at && k < s->n_at; k++) {
            uint64_t at = p->at.at[s->at + k];
            uint64_t size = (g->tensors[op->outputs[k]].bytes + unit - 1) / unit * unit;
            if (at != RP_NO_ADDRESS && at + size > *arena)
                *arena = at + size;
        }
    }
}

/* The size of all host copies of a plan, each counted once. */
static uint64_t all_copies(const struct rp_graph *g, const struct rp_plan *p) {
    uint64_t sum = 0;
    for (size_t i = 0; i < p->steps.n; i++)
        if (p->steps.at[i].kind == RP_SWAP_OUT)
            sum += g->tensors[p->steps.at[i].id].bytes;
    return sum;
}

static bool used_is_right(uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(12);
    struct rp_graph g;
    bool ok = true;
    rp_gen_graph(seed, &shape, &g);
    for (int addressed = 0; addressed < 2; addressed++) {
        struct rp_plan p;
        struct rp_verdict v;
        struct rp_err err = {{0}};
        uint64_t arena, slab;
        rp_gen_plan(seed, &g, addressed, &p);
        rp_naive_steps(&g, &p, &p.claims);
        find_max_ends(&g, &p, &arena, &slab);
        ok = ok && rp_verify(&g, &p, &v, &err) == RP_OK &&
             v.host_used_bytes == (addressed ? slab : all_copies(&g, &p)) &&
             (!addressed || v.arena_used_bytes == arena);
        rp_plan_fini(&p);
    }
    rp_graph_fini(&g);
    return ok;
}

static void the_used_bytes_of_arena_and_slab_are_right(void) {
    uint32_t n = 100;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!used_is_right(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("the verdict says otherwise");
        }
}

static void keep_all_plans_are_valid(void) {
    uint32_t n = 50;
    for (uint64_t seed = rp_gen_seed(1000, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(20);
        struct rp_graph g;
        rp_gen_graph(seed, &shape, &g);
        for (int addressed = 0; addressed < 2; addressed++) {
            struct rp_plan p;
            struct rp_verdict v;
            struct rp_err err = {{0}};
            rp_gen_keep_all(&g, addressed, &p);
            CU_ASSERT_EQUAL(rp_verify(&g, &p, &v, &err), RP_OK);
            CU_ASSERT_STRING_EQUAL(err.msg, "");
            if (err.msg[0] != '\0')
                rp_gen_failed(seed);
            rp_plan_fini(&p);
        }
        rp_graph_fini(&g);
    }
}

void suite_verifier_random(void) {
    RP_SUITE("verifier_random");
    RP_TEST(random_plans_get_the_same_verdict_from_the_naive_checker);
    RP_TEST(the_used_bytes_of_arena_and_slab_are_right);
    RP_TEST(keep_all_plans_are_valid);
}
