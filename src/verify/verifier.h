/* verify: is a plan valid for a graph, and does following it give the right values?
 *
 * Two judges. They share no code with whatever made the plan, and the second does not
 * believe the first:
 *
 *   rp_verify         check_steps.c with check_timeline.c and range_set.c: every rule of
 * docs/formats.md, step by step, and every claim recomputed. rp_verify_replay  program.c
 * and replay.c: the plan carried out on the CPU, in memory laid out as the plan says, with
 * values in place of numbers; and races.c: its waits leave no other order.
 *
 * What each can see:
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
 *   copy that reads or lands too early or too late      by time  by data, if an edge is
 *                                                                missing in the program
 *   freed, or made again, while its swap-in is on way   yes      no (the runtime waits)
 *   kept tensor missing at the end                      yes      yes
 *   over budget, wrong claim, wrong graph               yes      no
 *   values that depend on which copy ran first          no       yes
 *
 * The bound claimed is only held against the time here: at most that.
 */
#ifndef RP_VERIFY_VERIFIER_H
#define RP_VERIFY_VERIFIER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/graph.h"
#include "model/plan.h"

/* What the steps of a plan amount to, whatever the plan claims. */
struct rp_verdict {
    uint64_t time_ns, baseline_time_ns, recompute_ns, stall_ns;
    uint64_t peak_bytes;       /* fixed + most that was live at once */
    uint64_t arena_used_bytes; /* highest end; without addresses the live peak */
    uint64_t host_used_bytes;  /* highest end; without addresses the sum */
    uint64_t swapped_out_bytes, swapped_in_bytes;
    uint64_t d2h_busy_ns, h2d_busy_ns; /* how long each copy queue was copying */
    size_t n_runs, n_reruns, n_swap_outs, n_swap_ins;
};

/* RP_OK: valid, every rule was checked and every claim holds. RP_NO: rejected, and `err`
 * says by which rule: "steps[17]: ...". `p` may be any well-formed plan, whatever it names;
 * `g` has passed rp_graph_check. *v is complete only on RP_OK. */
rp_rc rp_verify(const struct rp_graph *g, const struct rp_plan *p, struct rp_verdict *v,
                struct rp_err *err);

struct rp_replay {
    size_t n_schedules;              /* orders of the copies that were tried */
    size_t n_runs, n_copies;         /* in each of them */
    size_t n_values;                 /* compared with the reference, in all of them */
    size_t device_cells, host_cells; /* scaled sizes of device memory and host slab */
};

/* Carries the plan out (replay.h says how). RP_OK: under every order of the copies that was
 * tried, each run read and made what the un-rematerialized step does, and so is what is
 * kept. RP_NO: `err` names the first wrong step. Any well-formed plan is safe to give,
 * valid or not. */
rp_rc rp_verify_replay(const struct rp_graph *g, const struct rp_plan *p,
                       struct rp_replay *r, struct rp_err *err);

#endif
