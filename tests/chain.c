#include "chain.h"

#include "run.h"

void rp_chain_load(struct rp_graph *g) {
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_load("tests/data/graph/good/chain.json", g, &err),
                          RP_OK);
    CU_ASSERT_EQUAL_FATAL(g->n_ops, RP_CHAIN_OPS);
}

void rp_chain_plan(const struct rp_graph *g, const struct rp_step *steps, size_t n,
                   struct rp_plan *plan) {
    *plan = (struct rp_plan){0};
    for (size_t i = 0; i < n; i++) {
        struct rp_step s = steps[i];
        if (s.kind != RP_RUN)
            s.id = g->ops[s.id - 1].outputs[0];
        rp_push(&plan->steps, s);
    }
}

void rp_chain_keep_all(const struct rp_graph *g, struct rp_plan *plan) {
    struct rp_step steps[RP_CHAIN_OPS] = {{0}};
    for (uint32_t j = 0; j < RP_CHAIN_OPS; j++)
        steps[j].id = j;
    rp_chain_plan(g, steps, RP_CHAIN_OPS, plan);
}
