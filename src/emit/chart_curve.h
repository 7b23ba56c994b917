/* curve: time over memory, the outcome of a sweep, as an SVG file. */
#ifndef RP_EMIT_CHART_CURVE_H
#define RP_EMIT_CHART_CURVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct rp_curve_point {
    uint64_t budget_bytes, time_ns, lower_bound_ns;
};

struct rp_curve {
    const char *title;
    uint64_t baseline_ns; /* time when everything is kept */
    const struct rp_curve_point *at;
    size_t n; /* in the order of budgets */
};

/* The same curve gives the same bytes. */
void rp_chart_curve(const struct rp_curve *c, FILE *f);

#endif
