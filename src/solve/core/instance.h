/* instance: a graph and a memory limit, laid out flat for the planner.
 *
 * Ops are numbered by their place in the order of first runs: op i is graph op op_of[i].
 * Tensors are only those that an op makes, numbered by producer. Sources are on the device
 * for the whole step, so they only reduce the limit. Bytes are rounded up to the alignment
 * if the plan will carry addresses.
 *
 * Sources that may live on the host are tensors too in an instance that
 * rp_instance_init_homes makes: one for each content that they have during the step, its
 * versions. Op 0 is then `begin`, which is no op of the graph (op_of[0] is RP_NONE). It
 * takes no time and makes version 0 of each such source. An op that updates a source reads
 * one version and makes the next, which lies where that one lay. Version 0 has a complete
 * host copy as the step begins. Version k > 0 needs a swap-out for one, like any tensor.
 * A plan leaves a source on the device for good where S[1] holds its version 0
 * (schedule.h). Else the source lives on the host. Graphs without such sources have the
 * same instance either way.
 *
 * Where what is kept does not fit beside the last op, one more follows it: `end`, which is
 * no op of the graph either (order/step_end.h). It takes no time, makes nothing, and reads
 * all that is kept. So its stage is what happens after the graph's last first run, copies
 * above all.
 *
 * Stage t is what happens up to and including the first run of op t: any earlier ops may
 * run again, then op t runs. There are n_ops stages (Jain et al., "Checkmate", MLSys 2020).
 *
 * Invariants: producer[x] < r for every reader r of x; bytes and times are below 2^63, and
 * so is the sum of all times.
 *
 * Thread safety: const after init, so threads may share one. limit_bytes may be changed
 * while nobody else reads it.
 */
#ifndef RP_SOLVE_CORE_INSTANCE_H
#define RP_SOLVE_CORE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "model/bound_scope.h"
#include "model/graph.h"
#include "solve/core/update_order.h"

struct rp_instance {
    const struct rp_graph *graph; /* borrowed */
    uint32_t n_ops, n_tensors;
    uint64_t fixed_bytes;                /* of sources that are no tensors here */
    uint64_t limit_bytes;                /* for all but these: budget - fixed bytes */
    uint64_t *bytes;                     /* per tensor */
    uint64_t *time_ns, *workspace_bytes; /* per op */
    /* Per op: the last stage in which it may run. Its own if it runs once, that of the next
     * op which updates what it reads, or n_ops: any, and after the last first run too. */
    uint32_t *last_stage;
    struct rp_update_order updates;
    bool *kept;   /* per tensor: on the device at the end */
    bool *pinned; /* per tensor: on the device from its first making to the end (`held` in
                     the graph); it is kept then */
    /* Per tensor: it is pinned, or may be wanted when it can no longer be made again. */
    bool *irreplaceable;
    /* Per tensor: what it adds to the workspace of a run that finds it on the device: its
     * bytes if its maker cannot rewrite it there, else 0. */
    uint64_t *shadow_bytes;
    uint32_t *producer; /* per tensor: op */
    /* Lists in compressed rows: list[start[i]] .. list[start[i + 1] - 1], ascending. */
    uint32_t *input_start, *inputs;   /* per op: tensors it reads (sources left out) */
    uint32_t *output_start;           /* per op: its outputs are from output_start[i] on */
    uint32_t *reader_start, *readers; /* per tensor: ops that read it */
    uint32_t *op_of; /* per op here: op of the graph; RP_NONE: `begin` or `end` */
    bool has_end;    /* the last op is `end` */
    /* last_stage and irreplaceable if nothing runs in its stage. NULL without `end`. */
    uint32_t *stage_before_end;
    bool *irreplaceable_at_end;
    uint32_t *tensor_of; /* per tensor here: tensor of the graph */
    /* Sources that may live on the host. Tensors 0..n_homes-1 are their versions 0: the
     * outputs of `begin`, the one that is used first last. n_homes 0: there is no `begin`,
     * and no tensor is a version. */
    uint32_t n_homes;
    bool *lives_on_host;    /* per version 0: its source must (home: host) */
    uint32_t *version_0;    /* per tensor: version 0 of its source; RP_NONE: no source */
    uint32_t *next_version; /* per tensor: RP_NONE if it is no version, or the last */
    uint64_t *overwritten_bytes; /* per op: of outputs that need no room of their own, since
                                    they lie where an input lay. Of `begin`: of all */
    /* NULL until rp_instance_allow_swap: then nothing may be swapped. */
    uint64_t *out_ns, *in_ns;  /* per tensor: how long its swap-out, its swap-in takes */
    uint64_t host_limit_bytes; /* for all host copies together */
};

/* `order` lists the graph's ops in the order of their first runs, which is topological;
 * NULL: the graph's own order. `addressed` rounds sizes up to the graph's alignment.
 * budget_bytes is at least the graph's fixed bytes. The caller owns `p`; `g` must outlive
 * it. */
void rp_instance_init(struct rp_instance *p, const struct rp_graph *g,
                      uint64_t budget_bytes, bool addressed, const uint32_t *order);
/* The same, with sources that may live on the host as tensors. budget_bytes is at least the
 * bytes of all other sources. */
void rp_instance_init_homes(struct rp_instance *p, const struct rp_graph *g,
                            uint64_t budget_bytes, bool addressed, const uint32_t *order);
void rp_instance_fini(struct rp_instance *p); /* safe on a zeroed one */

/* The bytes of the sources that must stay on the device: those whose home it is. */
uint64_t rp_bytes_at_home_on_device(const struct rp_graph *g);
/* Is there a source with this home, not RP_HOME_DEVICE, that instances have as versions?
 * (One without bytes that may stay on the device stays.) */
bool rp_any_home(const struct rp_graph *g, enum rp_home home);
/* Is there one with either of the two homes? */
bool rp_any_source_may_move(const struct rp_graph *g);

/* The most host memory with which all sources stay on the device that may stay there;
 * RP_NO_LIMIT if there are none that may live on the host. */
uint64_t rp_host_bytes_without_sources(const struct rp_graph *g);

/* True if a copy of `bytes` takes less than 2^62 ns each way. The device states both
 * bandwidths. */
bool rp_may_be_copied(const struct rp_device *d, uint64_t bytes);
/* Allows swaps, at the speed that the graph's device states. False, with nothing changed,
 * if it does not state both bandwidths, or if a tensor may not be copied. */
bool rp_instance_allow_swap(struct rp_instance *p, uint64_t host_limit_bytes);

/* Op j is `begin`. */
static inline bool rp_is_begin(const struct rp_instance *p, uint32_t j) {
    return j == 0 && p->n_homes > 0;
}
/* Op j is `end`. */
static inline bool rp_is_end(const struct rp_instance *p, uint32_t j) {
    return p->has_end && j + 1 == p->n_ops;
}
/* Op j is one of the graph. */
static inline bool rp_is_graph_op(const struct rp_instance *p, uint32_t j) {
    return p->op_of[j] != RP_NONE;
}
static inline bool rp_op_reads(const struct rp_instance *p, uint32_t j, uint32_t x) {
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        if (p->inputs[k] == x)
            return true;
    return false;
}
/* x is a version of a source. */
static inline bool rp_is_version(const struct rp_instance *p, uint32_t x) {
    return p->version_0[x] != RP_NONE;
}
/* The last row of S that can hold x: a version ends where the next one is made. */
static inline uint32_t rp_last_row(const struct rp_instance *p, uint32_t x) {
    uint32_t next = p->next_version[x];
    return next == RP_NONE ? p->n_ops : p->producer[next];
}
/* If its source lives on the host, x must be copied out: it is what the last update made.
 */
static inline bool rp_must_copy_out(const struct rp_instance *p, uint32_t x) {
    return rp_is_version(p, x) && p->next_version[x] == RP_NONE && x >= p->n_homes;
}

/* Lets no op run twice. */
void rp_instance_run_once(struct rp_instance *p);
/* Makes it an instance whose floor holds in every order of first runs. In another order,
 * what must not be freed may be made later, and needed for a shorter time. */
void rp_instance_any_order(struct rp_instance *p);

/* Sets p->irreplaceable from the rest. */
void rp_instance_find_irreplaceable(struct rp_instance *p);

/* Drops the rules that certificates do not know: updates, tensors that are held, and
 * sources that may live on the host, which then take no memory. What holds for all plans of
 * the result holds for those of the instance. */
void rp_instance_for_certificate(struct rp_instance *p);

/* The last stage in which op j can be of use (per op), and the last one that can want
 * tensor x (per tensor; n_ops if it is kept), directly or through ops that may run again.
 * Nothing is of use after the stage of `end`. */
void rp_instance_last_uses(const struct rp_instance *p, uint32_t *r_last, uint32_t *s_last);

/* What x takes at least while it is on the device: the bytes of a source that may stay
 * there are not rounded up then. */
uint64_t rp_instance_least_bytes(const struct rp_instance *p, uint32_t x);

/* The last op that needs tensor x whatever the schedule does; n_ops if x is kept. */
uint32_t rp_instance_last_need(const struct rp_instance *p, uint32_t x);

/* Per op: bytes in use while it runs, if every tensor is kept from its maker to the last op
 * that needs it. The caller frees the result. */
int64_t *rp_instance_bytes_in_use(const struct rp_instance *p);

/* Of the sources that may live on the host and that op `op` does not use, the bytes that
 * lie on the device while it runs, since the host limit has no room for them. */
uint64_t rp_instance_bytes_off_host(const struct rp_instance *p, uint32_t op);

/* Per op: its working set in bytes, that is its inputs, outputs and workspace, and the
 * tensors that are pinned by then, and sources that have no room on the host; where nothing
 * may be swapped, also those that something still reads and that can no longer be made
 * again. No schedule needs less while it runs. The caller frees it. */
uint64_t *rp_instance_working_sets(const struct rp_instance *p);

/* What op j reads, makes and works in, in bytes. */
uint64_t rp_instance_op_bytes(const struct rp_instance *p, uint32_t j);

/* What the kept tensors take at least when the step ends. */
uint64_t rp_instance_kept_bytes(const struct rp_instance *p);

/* A lower bound on the peak of every schedule: the largest working set, or the kept tensors
 * together. *op is the op with the largest working set; RP_NONE if the kept tensors need
 * more. */
uint64_t rp_instance_floor(const struct rp_instance *p, uint32_t *op);

#endif
