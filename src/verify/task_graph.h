/* task_graph: a plan as an asynchronous runtime executes it.
 *
 * Every step is a task on one of three queues: compute (runs and frees), D2H (swap-outs)
 * and H2D (swap-ins). A queue does its tasks in order. A task also waits for the tasks of
 * other queues that the time line of docs/formats.md names. In a CUDA program these waits
 * are events.
 *
 * Memory is scaled down without loss. The arena is cut at every address at which a range of
 * the plan begins or ends, and each piece becomes one cell. Two ranges share a byte if and
 * only if they share a cell, and all bytes of a piece are always written and read together.
 * The host slab is cut in the same way. Each source that stays on the device, and each
 * tensor of a plan without addresses, has a cell of its own after those of the arena.
 *
 * Not thread-safe while it is built; many threads may read it afterwards.
 */
#ifndef RP_VERIFY_TASK_GRAPH_H
#define RP_VERIFY_TASK_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/status.h"
#include "model/graph.h"
#include "model/plan.h"

enum rp_task_queue { RP_QUEUE_COMPUTE, RP_QUEUE_D2H, RP_QUEUE_H2D, RP_N_TASK_QUEUES };

/* Cells first .. first + n - 1 of the device or of the host; n is 0 for 0 bytes. */
struct rp_cell_range {
    size_t first, n;
    bool fresh; /* allocated by this step: it holds no value yet */
    bool left;  /* an output that the run leaves as it is */
};

/* Task k is step k of the plan. Its ranges are, for a run: those of its inputs, of what it
 * updates, of its outputs, and its workspace; for a free: the one that is freed; for a
 * swap: the one on the device and the one on the host. */
struct rp_task {
    enum rp_step_kind kind;
    uint32_t id;                /* op or tensor */
    size_t first_range;         /* in rp_task_graph.ranges */
    size_t first_wait, n_waits; /* in rp_task_graph.waits; all are earlier tasks */
};

struct rp_task_graph {
    RP_VEC(struct rp_task) tasks;
    RP_VEC(size_t) waits;
    RP_VEC(struct rp_cell_range) ranges;
    bool *on_device;             /* per tensor: at the end */
    bool *listed;                /* per tensor: a source that lives on the host */
    struct rp_cell_range *final; /* per tensor: its device cells at the end, if on_device */
    struct rp_cell_range *host;  /* per listed source: its host cells */
    size_t n_device_cells, n_host_cells;
};

enum rp_task_queue rp_task_queue_of(enum rp_step_kind kind);

/* RP_NO, "steps[3]: ...": a step names an op or tensor that does not exist, or uses bytes
 * outside its memory. The caller empties *tg in any case. */
rp_rc rp_task_graph_build(const struct rp_graph *g, const struct rp_plan *p,
                          struct rp_task_graph *tg, struct rp_err *err);
void rp_task_graph_fini(struct rp_task_graph *tg);

#endif
