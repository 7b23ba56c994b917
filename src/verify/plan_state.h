/* plan_state: what is where and when, while the checker goes through a plan step by step:
 * which tensors are on the device and on the host, which bytes of the arena and of the host
 * slab are in use, how often sources were updated, and the clocks of the three queues.
 *
 * For check_steps.c, check_run.c and check_copies.c. Not thread-safe: one state, one
 * thread.
 */
#ifndef RP_VERIFY_PLAN_STATE_H
#define RP_VERIFY_PLAN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/queue_clocks.h"
#include "verify/range_set.h"
#include "verify/verifier.h"

struct rp_tensor_state {
    bool movable;           /* an op makes it, or it is a source that the plan lists */
    bool listed;            /* a source that lives on the host under this plan */
    bool on_device;         /* of a movable tensor; others always are */
    bool on_host;           /* its host copy is up to date */
    bool has_host_range;    /* of host_at, in a plan with addresses */
    uint32_t n_updates;     /* of a source, so far */
    uint64_t at, host_at;   /* in arena and slab, in a plan with addresses */
    uint64_t in_ns;         /* when its last swap-in ends; 0 without one */
    uint64_t host_ready_ns; /* when its host copy is complete */
    uint64_t out_ns;        /* when its last swap-out ends; 0 without one */
};

struct rp_plan_state {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct rp_verdict *v;
    struct rp_err *err;
    const char *list; /* of the plan: "homes", then "steps" */
    size_t step;      /* the entry of it that is checked */
    struct rp_tensor_state *tensors;
    uint32_t *runs;        /* per op: how often it ran */
    uint32_t last_ordered; /* the ordered op that ran first most recently, or RP_NONE */
    /* The ops that update source x, in op order: updaters[updater_start[x]] and on. */
    uint32_t *updater_start, *updaters;
    uint64_t fixed_bytes;            /* of the sources that are not listed */
    struct rp_range_set arena, slab; /* what is in use, in a plan with addresses */
    struct rp_queue_clocks time;
    uint64_t live_bytes; /* of all movable tensors on the device */
};

/* Formats that name an op or a tensor in messages, and their arguments. */
#define RP_OP "op %u \"%.80s\""
#define RP_TENSOR "tensor %u \"%.80s\""
#define RP_AN_OP(w, i) (i), (w)->g->ops[i].name
#define RP_A_TENSOR(w, x) (x), (w)->g->tensors[x].name

/* RP_NO: "steps[17]: ...", for the present step or home. */
rp_rc rp_reject_step(struct rp_plan_state *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

bool rp_is_source(const struct rp_plan_state *w, uint32_t x);

void rp_plan_state_init(struct rp_plan_state *w, const struct rp_graph *g,
                        const struct rp_plan *p, struct rp_verdict *v, struct rp_err *err);
void rp_plan_state_fini(struct rp_plan_state *w);

/* The storage that a tensor or workspace of so many bytes takes. It cannot wrap, since the
 * sum of all of these fits in 63 bits (rp_graph_check). */
uint64_t rp_storage_size(const struct rp_plan_state *w, uint64_t bytes);

/* Rule 5: this step allocates storage for tensor x, `size` bytes of workspace for op i, or
 * room for the host copy of x, at this address. RP_NO if it may not. A host range is
 * allocated once and then only compared. */
rp_rc rp_allocate_device(struct rp_plan_state *w, uint32_t x, uint64_t at);
rp_rc rp_allocate_workspace(struct rp_plan_state *w, uint32_t i, uint64_t size,
                            uint64_t at);
rp_rc rp_allocate_host(struct rp_plan_state *w, uint32_t x, uint64_t at);

/* Checks the bytes that are live now, with `workspace`, against the budget. Updates the
 * peak. */
rp_rc rp_check_budget(struct rp_plan_state *w, uint64_t workspace);

#endif
