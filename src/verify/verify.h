/* verify: is a plan valid for a graph?
 *
 *   rp_verify         rules.c with timeline.c and spans.c: every rule of docs/formats.md,
 *                     step by step, and every claim recomputed. It shares no code with
 *                     whatever made the plan.
 *
 * The bound claimed is only held against the time here: at most that.
 */
#ifndef RP_VERIFY_VERIFY_H
#define RP_VERIFY_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
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

#endif
