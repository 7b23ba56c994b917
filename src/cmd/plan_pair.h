/* plan_pair: a graph and its plan as `verify` and `emit` need them: parsed, and as the
 * texts of their files, which libremat parses again.
 *
 * Not thread-safe: one pair, one thread. */
#ifndef RP_CMD_PLAN_PAIR_H
#define RP_CMD_PLAN_PAIR_H

#include "base/status.h"
#include "emit/replay_tables.h"
#include "model/graph.h"
#include "model/plan.h"

struct rp_pair {
    const char *graph_name, *plan_name; /* of the files, for messages; borrowed */
    char *graph_text, *plan_text;
    size_t graph_len, plan_len;
    struct rp_graph g;
    struct rp_plan p;
};

/* Loads both files; either path may be "-". The paths must outlive the pair. The caller
 * empties *pair in any case. */
rp_rc rp_pair_load(const char *graph_path, const char *plan_path, struct rp_pair *pair,
                   struct rp_err *err);
void rp_pair_fini(struct rp_pair *pair); /* safe on a zeroed one */

/* RP_INPUT if the plan cannot run on a GPU because of where its addresses may lie. */
rp_rc rp_pair_check_cuda_alignment(const struct rp_pair *pair, struct rp_err *err);

/* Binds the ops of a pair that rp_verify accepted to kernels. RP_INPUT: an op without a
 * kernel, or a plan without addresses. The caller empties *t in any case. */
rp_rc rp_pair_tables(const struct rp_pair *pair, struct rp_replay_tables *t,
                     struct rp_err *err);

#endif
