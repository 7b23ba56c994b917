#include "solve/lp/bound_ns.h"

#include <math.h>

#include "base/mem.h"

uint64_t rp_bound_ns(double ns, uint64_t divisor_ns) {
    if (!(ns > 0))
        return 0;
    if (ns >= (double)RP_MAX_QUANTITY)
        return UINT64_MAX;
    return ns < 4e15 ? (uint64_t)ceil(ns / (double)divisor_ns) * divisor_ns
                     : (uint64_t)(ns * (1 - 1e-15));
}
