/* replay_tables: a graph and its plan as the tables of runtime/replay.h, with every op
 * bound to its kernel. `verify --replay ref` runs them, and `emit` writes them as C.
 *
 * Thread-safe for different tables.
 */
#ifndef RP_EMIT_REPLAY_TABLES_H
#define RP_EMIT_REPLAY_TABLES_H

#include "base/mem.h"
#include "emit/runtime/replay.h"
#include "kernels/kernel.h"
#include "model/graph.h"
#include "remat/remat.h"

struct rp_schedule_tables {
    RP_VEC(struct replay_step) steps;
    RP_VEC(uint64_t) addresses;
    RP_VEC(uint32_t) waits;
    uint64_t *kept_at; /* as in struct replay_schedule */
    RP_VEC(struct replay_home) homes;
};

struct rp_replay_tables {
    struct replay_program program; /* points into the other members and into the graph */
    struct rp_kernel *kernels;     /* per op */
    struct replay_tensor *tensors;
    struct replay_op *ops;
    RP_VEC(uint32_t) ends;
    RP_VEC(struct rp_fill) fills;
    struct rp_schedule_tables plan, keep_all;
};

/* `r` is a plan with addresses for `g`, which must outlive *t. baseline_ns and stall_ns are
 * the plan's claims. `file` is g's name in messages. RP_INPUT names the first op without a
 * kernel, or the first source without shape or dtype. The caller empties *t in any case. */
rp_rc rp_replay_tables_build(const struct rp_graph *g, const remat *r, const char *file,
                             uint64_t baseline_ns, uint64_t stall_ns,
                             struct rp_replay_tables *t, struct rp_err *err);
/* The same without a plan, for profiling the step. */
rp_rc rp_replay_tables_step(const struct rp_graph *g, const char *file,
                            struct rp_replay_tables *t, struct rp_err *err);
void rp_replay_tables_fini(struct rp_replay_tables *t);

#endif
