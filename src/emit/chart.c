#include "emit/chart.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/status.h"

struct rp_chart_scale rp_chart_scale_of(const struct rp_report *r) {
    const uint64_t plan = r->plan.peak.bytes, keep_all = r->keep_all.peak.bytes;
    const uint64_t budget = r->p->budget_bytes, time_ns = r->plan.time_ns;
    struct rp_chart_scale s = {.max_bytes = rp_max_u64(plan, keep_all),
                               .total_ns = rp_max_u64(time_ns, 1)};
    /* A budget far above the peaks would flatten the curves, so it is left out. */
    s.with_budget = budget / 2 < s.max_bytes;
    if (s.with_budget)
        s.max_bytes = rp_max_u64(s.max_bytes, budget);
    return s;
}

/* Steps are 1, 2 or 5 times a power of ten of the unit, or a quarter or half of the unit.
 * All of these are whole bytes or nanoseconds. */
static uint64_t round_step(uint64_t max, uint64_t unit, uint32_t max_ticks) {
    if (unit > 1)
        for (uint64_t step = unit / 4; step < unit; step *= 2)
            if (max / step <= max_ticks)
                return step;
    for (uint64_t ten = unit;; ten *= 10)
        for (uint64_t k = 1; k <= 5; k += k == 2 ? 3 : 1)
            if (max / (k * ten) <= max_ticks || ten > UINT64_MAX / 100)
                return k * ten;
}

struct rp_axis rp_axis_bytes(uint64_t max_bytes, uint32_t max_ticks) {
    static const char *const name[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    struct rp_axis a = {.unit = 1};
    int i = 0;
    for (; i < 4 && max_bytes / 1024 >= a.unit; i++)
        a.unit *= 1024;
    a.unit_name = name[i];
    a.step = round_step(max_bytes, a.unit, max_ticks);
    return a;
}

struct rp_axis rp_axis_ns(uint64_t max_ns, uint32_t max_ticks) {
    static const char *const name[] = {"ns", "us", "ms", "s"};
    struct rp_axis a = {.unit = 1};
    int i = 0;
    for (; i < 3 && max_ns / 1000 >= a.unit; i++)
        a.unit *= 1000;
    a.unit_name = name[i];
    a.step = round_step(max_ns, a.unit, max_ticks);
    return a;
}

struct rp_text32 rp_axis_label(const struct rp_axis *a, uint64_t value) {
    struct rp_text32 t;
    uint64_t rest = value % a->unit;
    int n = snprintf(t.s, sizeof t.s, "%" PRIu64, value / a->unit);
    if (a->step % a->unit == a->unit / 4 && a->unit > 1)
        snprintf(t.s + n, sizeof t.s - (size_t)n, ".%02d", (int)(4 * rest / a->unit) * 25);
    else if (a->step % a->unit != 0)
        snprintf(t.s + n, sizeof t.s - (size_t)n, ".%d", (int)(2 * rest / a->unit) * 5);
    return t;
}

void rp_chart_put_xml(const char *s, FILE *f) {
    char *clean = rp_clean_copy(s);
    for (const char *c = clean; *c != '\0'; c++) {
        if (*c == '<')
            fputs("&lt;", f);
        else if (*c == '>')
            fputs("&gt;", f);
        else if (*c == '&')
            fputs("&amp;", f);
        else
            fputc(*c, f);
    }
    free(clean);
}
