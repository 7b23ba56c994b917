/* report: what a plan costs and saves, and its steps by name, as text or JSON. The same
 * plan gives the same text. The functions write to a stream, whose owner checks for errors.
 *
 * Thread-safe for different reports.
 */
#ifndef RP_EMIT_REPORT_H
#define RP_EMIT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emit/memory/memory_trace.h"
#include "model/graph.h"
#include "model/plan.h"

/* A valid plan for `g` with its trace, and the trace of keep-all for comparison. `g` and
 * `p` are borrowed. */
struct rp_report {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct rp_memory_trace plan, keep_all;
};

/* `p` has passed rp_verify with `g`. Both must outlive *r, which the caller empties. */
void rp_report_build(const struct rp_graph *g, const struct rp_plan *p,
                     struct rp_report *r);
void rp_report_fini(struct rp_report *r); /* safe on an empty or zeroed one */

/* Time, bound, memory and copies, then the ops with the most extra time, at most `rows`. */
void rp_report_text(const struct rp_report *r, uint32_t rows, FILE *f);
/* One line a step; consecutive frees share a line. */
void rp_report_steps(const struct rp_report *r, FILE *f);
/* One object; with_steps adds the array "steps". */
void rp_report_json(const struct rp_report *r, bool with_steps, FILE *f);

#endif
