/* chain: the graph of tests/data/graph/good/chain.json, f1 .. f8, b8 .. b1 on activations
 * a1 .. a8, and plans for it that are written by hand. */
#ifndef RP_TESTS_CHAIN_H
#define RP_TESTS_CHAIN_H

#include <stddef.h>

#include "model/graph.h"
#include "model/plan.h"

enum { RP_CHAIN_OPS = 16 };

/* The caller owns it. */
void rp_chain_load(struct rp_graph *g);

/* A plan of these steps, where copies and frees are given by the number of their
 * activation. The caller owns it. */
void rp_chain_plan(const struct rp_graph *g, const struct rp_step *steps, size_t n,
                   struct rp_plan *plan);

/* The plan that runs all ops and frees nothing. */
void rp_chain_keep_all(const struct rp_graph *g, struct rp_plan *plan);

#endif
