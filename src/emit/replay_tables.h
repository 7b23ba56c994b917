/* tables: a graph and its plan as the tables of runtime/replay.h, every op bound to its
 * kernel. What `verify --replay ref` runs and `emit` writes down. */
#ifndef RP_EMIT_REPLAY_TABLES_H
#define RP_EMIT_REPLAY_TABLES_H

#include "emit/runtime/replay.h"
#include "kernels/kernel.h"
#include "model/graph.h"
#include "remat/remat.h"

struct rp_schedule_tables {
    struct {
        struct replay_step *at;
        size_t n, cap;
    } steps;
    struct {
        uint64_t *at;
        size_t n, cap;
    } addresses;
    struct {
        uint32_t *at;
        size_t n, cap;
    } waits;
    uint64_t *kept_at;
};

struct rp_replay_tables {
    struct replay_program program; /* points into what follows, and into the graph */
    struct rp_kernel *kernels;     /* per op */
    struct replay_tensor *tensors;
    struct replay_op *ops;
    struct {
        uint32_t *at;
        size_t n, cap;
    } ends;
    struct {
        struct rp_fill *at;
        size_t n, cap;
    } fills;
    struct rp_schedule_tables plan, keep_all;
};

/* `r` is a plan with addresses for `g`. RP_INPUT names the first op or source that has no
 * kernel, no shape or no type; `file` is g's name in messages. The caller empties *t in any
 * case. `stall_ns` and `baseline_ns` are the plan's claims. */
rp_rc rp_replay_tables_build(const struct rp_graph *g, const remat *r, const char *file,
                             uint64_t baseline_ns, uint64_t stall_ns,
                             struct rp_replay_tables *t, struct rp_err *err);
/* The same without a plan: the step as it is, for profiling. */
rp_rc rp_replay_tables_step(const struct rp_graph *g, const char *file,
                            struct rp_replay_tables *t, struct rp_err *err);
void rp_replay_tables_fini(struct rp_replay_tables *t);

/* keep_all.c: each op once, each tensor released after its last use, at the lowest address
 * that is free; *s is empty before. */
void rp_replay_tables_keep_all(const struct rp_graph *g, struct rp_schedule_tables *s,
                               uint64_t *arena_bytes);

#endif
