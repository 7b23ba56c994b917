/* report: a plan for people to read: what it costs and saves, its steps by name, and its
 * memory over time as a picture. Everything goes to a stream; the same plan gives the same
 * text.
 */
#ifndef RP_EMIT_REPORT_H
#define RP_EMIT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emit/memory_trace.h"
#include "model/graph.h"
#include "model/plan.h"

/* A valid plan for `g` and its trace, and the trace that keeps everything to compare. */
struct rp_report {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct rp_memory_trace plan, keep_all;
};

void rp_report_build(const struct rp_graph *g, const struct rp_plan *p,
                     struct rp_report *r);
void rp_report_fini(struct rp_report *r);

/* Time, bound, memory, copies; then what was recomputed, the dearest `rows` ops of it. */
void rp_report_text(const struct rp_report *r, uint32_t rows, FILE *f);
void rp_report_steps(const struct rp_report *r, FILE *f); /* report_steps.c */
void rp_report_json(const struct rp_report *r, bool with_steps, FILE *f); /* json.c */

/* Memory over time in `width` >= RP_PICTURE_MIN columns of a terminal (chart_text.c). */
enum { RP_PICTURE_MIN = 40, RP_PICTURE_MAX = 1000 };
void rp_chart_text(const struct rp_report *r, uint32_t width, bool utf8, FILE *f);

/* The same as an SVG file, with the queues under it (chart_svg.c). */
void rp_chart_svg(const struct rp_report *r, FILE *f);

/* `s` with control bytes as '?': names come from files. */
void rp_put_name(const char *s, FILE *f);

#endif
