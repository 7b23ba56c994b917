/* axis: round numbers along an axis of bytes or of nanoseconds. */
#ifndef RP_EMIT_CHART_AXIS_H
#define RP_EMIT_CHART_AXIS_H

#include <stdint.h>

#include "base/format.h"

struct rp_axis {
    uint64_t step; /* between ticks */
    uint64_t unit;
    const char *word; /* of the unit: "GiB", "ms" */
};

/* About `ticks` of them, at most, from 0 to `most`. */
struct rp_axis rp_axis_bytes(uint64_t most, uint32_t ticks);
struct rp_axis rp_axis_ns(uint64_t most, uint32_t ticks);

/* "1.25": in the unit, with the decimals that the step needs. */
struct rp_text32 rp_axis_label(const struct rp_axis *a, uint64_t value);

#endif
