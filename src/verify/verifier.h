/* verifier: is a plan valid for a graph, and does following it give the right values?
 *
 * There are two checks. They share no code with the planner, and the second does not rely
 * on the first:
 *
 *   rp_verify         every rule of docs/formats.md, step by step, with every claim
 *                     recomputed (check_steps.h; check_run.h for runs, check_copies.h for
 *                     copies and frees)
 *   rp_verify_replay  the plan executed on the CPU, in memory laid out as the plan says,
 *                     with digests as data (task_graph.h, hash_replay.h); and whether its
 *                     waits allow another order (races.h)
 *
 * What each can detect:
 *
 *   fault                                               rules    replay
 *   an op that never runs                               yes      if its value is missed
 *   recompute: false run twice                          yes      no (same value again)
 *   input freed, overwritten or never there             yes      yes
 *   ranges that overlap while both are needed           yes      yes
 *   ranges that overlap harmlessly                      yes      no
 *   range outside arena or host slab                    yes      yes
 *   address missing or for the wrong outputs            yes      yes
 *   address off its alignment                           yes      no
 *   swap-in of what has no host copy, second swap-out   yes      yes
 *   copy that reads or lands too early or too late      by time  by data, if a wait is
 *                                                                missing in the task graph
 *   freed or made again during its swap-in              yes      no (the runtime waits)
 *   kept tensor missing at the end                      yes      yes
 *   over budget, wrong claim, wrong graph               yes      no
 *   values that depend on which copy ran first          no       yes
 *
 * A claimed lower bound is only compared with the time here; certificate/ checks why it
 * holds. Thread-safe: there is no shared state.
 */
#ifndef RP_VERIFY_VERIFIER_H
#define RP_VERIFY_VERIFIER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/graph.h"
#include "model/plan.h"

/* What the steps of a plan cost, computed without the plan's claims. */
struct rp_verdict {
    uint64_t time_ns, baseline_time_ns, recompute_ns, stall_ns;
    uint64_t fixed_bytes;      /* of the sources that stay on the device under this plan */
    uint64_t peak_bytes;       /* the largest sum of all live bytes, sources included */
    uint64_t arena_used_bytes; /* highest end; without addresses the peak less sources */
    uint64_t host_used_bytes;  /* highest end; without addresses the sum of sizes */
    uint64_t swapped_out_bytes, swapped_in_bytes;
    uint64_t d2h_busy_ns, h2d_busy_ns; /* sums of the copies' times */
    size_t n_runs, n_reruns, n_swap_outs, n_swap_ins;
};

/* RP_OK: valid; every rule was checked and every claim holds. RP_NO: rejected, and `err`
 * says by which rule: "steps[17]: ...". `p` may be any plan that rp_plan_parse accepts. `g`
 * has passed rp_graph_check. *v is complete only on RP_OK. */
rp_rc rp_verify(const struct rp_graph *g, const struct rp_plan *p, struct rp_verdict *v,
                struct rp_err *err);

struct rp_replay {
    size_t n_orders;                     /* orders of the copies that were tried */
    size_t n_runs, n_copies;             /* in each order */
    size_t n_values;                     /* compared with the right ones, in all orders */
    size_t n_device_cells, n_host_cells; /* scaled sizes of device memory and host slab */
};

/* Executes the plan (hash_replay.h). RP_OK: in every order of the copies that was tried,
 * each run read and made the values of the step without rematerialization, kept tensors
 * have the right values, and the waits allow no order with other values. RP_NO: `err` names
 * the first wrong step. RP_ENV: a thread could not be started. `p` need not be valid. */
rp_rc rp_verify_replay(const struct rp_graph *g, const struct rp_plan *p,
                       struct rp_replay *r, struct rp_err *err);

#endif
