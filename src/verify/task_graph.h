/* program: a plan as an asynchronous runtime carries it out. Every step is a task on one of
 * three queues (runs and frees compute, swap-outs D2H, swap-ins H2D); a queue does its
 * tasks in order, and a task waits for the tasks of other queues that the time line of
 * docs/formats.md names: these waits are the events of a CUDA program.
 *
 * Memory is scaled down without loss: the arena is cut at every address at which something
 * in the plan begins or ends, and each piece becomes one cell. Two ranges share a byte if
 * and only if they share a cell, and all bytes of a piece always meet the same fate, so
 * nothing that happens to whole tensors in the arena is lost. The host slab likewise.
 * Sources, and every tensor of a plan without addresses, have a cell of their own behind
 * the arena.
 */
#ifndef RP_VERIFY_TASK_GRAPH_H
#define RP_VERIFY_TASK_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/graph.h"
#include "model/plan.h"

enum rp_queue { RP_COMPUTE, RP_D2H, RP_H2D, RP_N_QUEUES };

/* Cells first .. first + n-1 of the device, or of the host. n is 0 for what has no bytes.
 */
struct rp_region {
    size_t first, n;
    bool fresh; /* taken by this step: nothing of value is there yet */
};

/* Task k is step k of the plan. Its regions are, for a run: its inputs', its outputs', its
 * workspace's; for a free: what is released; for a swap: on the device, on the host. */
struct rp_task {
    enum rp_step_kind kind;
    uint32_t id;           /* op or tensor */
    size_t regions;        /* the first of them in the program's list */
    size_t waits, n_waits; /* where in the program's list; all are earlier steps */
};

struct rp_task_graph {
    struct {
        struct rp_task *at;
        size_t n, cap;
    } tasks;
    struct {
        size_t *at;
        size_t n, cap;
    } waits;
    struct {
        struct rp_region *at;
        size_t n, cap;
    } regions;
    struct rp_region *last; /* per tensor: where it is at the end, */
    bool *there;            /* if it is on the device at all */
    size_t device_cells, host_cells;
};

enum rp_queue rp_queue_of(enum rp_step_kind kind);

/* RP_NO: a step names what cannot be found or lies outside its memory: "steps[3]: ...".
 * The caller empties *prog in any case. */
rp_rc rp_task_graph_build(const struct rp_graph *g, const struct rp_plan *p,
                          struct rp_task_graph *prog, struct rp_err *err);
void rp_task_graph_fini(struct rp_task_graph *prog);

/* RP_NO: two tasks use the same storage, one of them writes, and no chain of waits puts
 * them in order: "replay: steps[7] does not wait for steps[6], ..." (races.c). */
rp_rc rp_task_graph_check_waits(const struct rp_graph *g, const struct rp_task_graph *prog,
                                struct rp_err *err);

#endif
