/* What `verify --replay` and `emit` share: a graph and its plan, read once for us and once
 * for libremat, bound to kernels. */
#ifndef RP_CMD_PLAN_PAIR_H
#define RP_CMD_PLAN_PAIR_H

#include "base/status.h"
#include "emit/replay_tables.h"
#include "model/graph.h"
#include "model/plan.h"

struct rp_pair {
    const char *graph_name, *plan_name; /* of the files, for messages */
    char *graph_text, *plan_text;
    size_t graph_len, plan_len;
    struct rp_graph g;
    struct rp_plan p;
};

/* Either may be "-"; the paths outlive the pair. The caller empties *pair in any case. */
rp_rc rp_pair_load(const char *graph_path, const char *plan_path, struct rp_pair *pair,
                   struct rp_err *err);
void rp_pair_fini(struct rp_pair *pair); /* safe on a zeroed one */

/* `pair` is valid (rp_verify). RP_INPUT: an op without a kernel, a plan without addresses.
 * The caller empties *t in any case. */
rp_rc rp_pair_tables(const struct rp_pair *pair, struct rp_replay_tables *t,
                     struct rp_err *err);

/* Builds the emitted CUDA program of these tables and runs it (cmd/replay_cuda.c). *json is
 * what it printed, one object, for the caller to free; NULL if it did not run. RP_NO: not
 * equal. RP_ENV: no GPU, driver or compiler. */
rp_rc rp_cuda_replay(const struct rp_replay_tables *t, char **json, struct rp_err *err);

#endif
