#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

/* Three significant digits; a value of 1000 or more keeps all digits before the point. */
static struct rp_text32 show(double value, const char *unit) {
    struct rp_text32 t;
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(t.s, sizeof t.s, "%.*f %s", decimals, value, unit);
    return t;
}

struct rp_text32 rp_show_bytes(uint64_t bytes) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int i = 0;
    for (; value >= 1023.5 && i < 4; i++)
        value /= 1024;
    if (i == 0) {
        struct rp_text32 t;
        snprintf(t.s, sizeof t.s, "%" PRIu64 " B", bytes);
        return t;
    }
    return show(value, unit[i]);
}

struct rp_text32 rp_show_ns(uint64_t ns) {
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    int i = 0;
    for (; value >= 999.5 && i < 3; i++)
        value /= 1000;
    if (i == 0) {
        struct rp_text32 t;
        snprintf(t.s, sizeof t.s, "%" PRIu64 " ns", ns);
        return t;
    }
    return show(value, unit[i]);
}

struct rp_text32 rp_show_percent(uint64_t part, uint64_t whole) {
    struct rp_text32 t;
    if (whole == 0)
        snprintf(t.s, sizeof t.s, "-");
    else
        snprintf(t.s, sizeof t.s, "%.2f%%", 100 * (double)part / (double)whole);
    return t;
}
