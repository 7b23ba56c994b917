#include "base/format.h"

#include <inttypes.h>
#include <stdio.h>

/* Shows three significant digits, and all digits before the point. */
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

struct rp_text64 rp_show_tail(const char *before, uint64_t tail_ns) {
    struct rp_text64 t = {{0}};
    if (tail_ns > 0)
        snprintf(t.s, sizeof t.s, "%scopies after the last op %s", before,
                 rp_show_ns(tail_ns).s);
    return t;
}

struct rp_text64 rp_show_exactly(uint64_t bytes) {
    struct rp_text64 t;
    if (bytes < 1024)
        snprintf(t.s, sizeof t.s, "%" PRIu64 " bytes", bytes);
    else
        snprintf(t.s, sizeof t.s, "%s (%" PRIu64 " bytes)", rp_show_bytes(bytes).s, bytes);
    return t;
}

struct rp_text32 rp_show_budget(uint64_t bytes) {
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};
    struct rp_text32 t;
    uint64_t size = 1024;
    int i = 0;
    for (; i < 3 && bytes / size >= 1024; i++)
        size *= 1024;
    int decimals = bytes / size < 10 ? 2 : bytes / size < 100 ? 1 : 0;
    unsigned pow10 = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
    unsigned __int128 rounded_up = ((unsigned __int128)bytes * pow10 + size - 1) / size;
    uint64_t whole = (uint64_t)(rounded_up / pow10);
    if (bytes < size)
        snprintf(t.s, sizeof t.s, "%" PRIu64, bytes);
    else if (decimals == 0)
        snprintf(t.s, sizeof t.s, "%" PRIu64 "%s", whole, unit[i]);
    else
        snprintf(t.s, sizeof t.s, "%" PRIu64 ".%0*u%s", whole, decimals,
                 (unsigned)(rounded_up % pow10), unit[i]);
    return t;
}
