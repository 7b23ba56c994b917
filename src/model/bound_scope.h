/* bound_scope: which plans a lower bound is about: those that need no more than this says.
 * A plan that does what is false here, needs more host memory, or has another order may be
 * faster. `claims.bound_for` of docs/formats.md; plan_json.c reads it.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_MODEL_BOUND_SCOPE_H
#define RP_MODEL_BOUND_SCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model/graph.h"

struct rp_json_writer;

struct rp_bound_scope {
    bool recompute, swap;
    bool any_order;    /* of first runs; false: the graph's */
    bool all_programs; /* false: plans that run no op twice between two first runs */
    uint64_t host_budget_bytes; /* RP_NO_LIMIT: any (JSON null) */
};
#define RP_NO_LIMIT UINT64_MAX
extern const struct rp_bound_scope rp_bound_for_all_plans;

/* Writes it as the format does, under this key. */
void rp_bound_scope_json(const struct rp_bound_scope *b, const char *key,
                         struct rp_json_writer *w);

/* Prints " for plans without swaps" or the like, if that excludes any plan for `g`; but not
 * that the order is the graph's if the graph asks for no other. */
void rp_bound_scope_print(const struct rp_bound_scope *b, const struct rp_graph *g,
                          FILE *f);

#endif
