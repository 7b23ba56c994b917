/* chart: a plan's memory over time as text or SVG, and a sweep's time over memory as SVG.
 * The same input gives the same bytes. The functions write to a stream, whose owner checks
 * for errors.
 *
 * Thread-safe: nothing is kept between calls.
 */
#ifndef RP_EMIT_CHART_H
#define RP_EMIT_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/format.h"
#include "emit/report.h"

/* ---- a plan: memory over time ---- */

/* `width` columns of a terminal, RP_CHART_MIN_WIDTH .. RP_CHART_MAX_WIDTH (chart_text.c).
 */
enum { RP_CHART_MIN_WIDTH = 40, RP_CHART_MAX_WIDTH = 1000 };
void rp_chart_text(const struct rp_report *r, uint32_t width, bool utf8, FILE *f);

/* The same as an SVG file, with the queues below (chart_svg.c). */
void rp_chart_svg(const struct rp_report *r, FILE *f);

/* ---- a sweep: time over memory (chart_curve.c) ---- */

struct rp_curve_point {
    uint64_t budget_bytes, time_ns, lower_bound_ns;
};

struct rp_curve {
    const char *title;
    uint64_t baseline_ns; /* time when everything is kept */
    const struct rp_curve_point *at;
    size_t n; /* points, in ascending order of budgets */
};

void rp_chart_curve(const struct rp_curve *c, FILE *f);

/* ---- what the charts share ---- */

/* The ends of a chart's axes. max_bytes is the larger peak of the plan and keep-all, or the
 * budget if that is drawn and higher. */
struct rp_chart_scale {
    uint64_t max_bytes; /* may be 0 */
    uint64_t total_ns;  /* >= 1 */
    bool with_budget;   /* the budget is drawn */
};
struct rp_chart_scale rp_chart_scale_of(const struct rp_report *r);

/* Round numbers along an axis from 0 to a maximum, at most about max_ticks of them. */
struct rp_axis {
    uint64_t step;         /* between ticks, in bytes or ns */
    uint64_t unit;         /* in bytes or ns */
    const char *unit_name; /* "GiB", "ms" */
};
struct rp_axis rp_axis_bytes(uint64_t max_bytes, uint32_t max_ticks);
struct rp_axis rp_axis_ns(uint64_t max_ns, uint32_t max_ticks);

/* "1.25": in the axis's unit, with the decimals that its step needs. */
struct rp_text32 rp_axis_label(const struct rp_axis *a, uint64_t value);

/* Escapes the text for XML 1.0. Control characters, and what XML does not allow, become
 * '?'. */
void rp_chart_put_xml(const char *s, FILE *f);

#endif
