#include "emit/chart_axis.h"

#include <inttypes.h>
#include <stdio.h>

/* Steps are 1, 2 or 5 times a power of ten of the unit, or a quarter or half of it: these
 * are whole bytes and nanoseconds. */
static uint64_t round_step(uint64_t most, uint64_t unit, uint32_t ticks) {
    if (unit > 1)
        for (uint64_t step = unit / 4; step < unit; step *= 2)
            if (most / step <= ticks)
                return step;
    for (uint64_t ten = unit;; ten *= 10)
        for (uint64_t k = 1; k <= 5; k += k == 2 ? 3 : 1)
            if (most / (k * ten) <= ticks || ten > UINT64_MAX / 100)
                return k * ten;
}

struct rp_axis rp_axis_bytes(uint64_t most, uint32_t ticks) {
    static const char *const word[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    struct rp_axis a = {.unit = 1};
    int i = 0;
    for (; i < 4 && most / 1024 >= a.unit; i++)
        a.unit *= 1024;
    a.word = word[i];
    a.step = round_step(most, a.unit, ticks);
    return a;
}

struct rp_axis rp_axis_ns(uint64_t most, uint32_t ticks) {
    static const char *const word[] = {"ns", "us", "ms", "s"};
    struct rp_axis a = {.unit = 1};
    int i = 0;
    for (; i < 3 && most / 1000 >= a.unit; i++)
        a.unit *= 1000;
    a.word = word[i];
    a.step = round_step(most, a.unit, ticks);
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
