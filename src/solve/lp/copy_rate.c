#include "solve/lp/copy_rate.h"

struct rp_copy_rate rp_copy_rate_best(const struct rp_instance *p,
                                      const uint64_t *copy_ns) {
    struct rp_copy_rate best = {0, 1};
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if ((unsigned __int128)p->bytes[x] * best.ns >
            (unsigned __int128)best.bytes * copy_ns[x])
            best = (struct rp_copy_rate){p->bytes[x], copy_ns[x]};
    return best;
}

uint64_t rp_copy_rate_bytes(struct rp_copy_rate rate, uint64_t horizon_ns, uint64_t used_ns,
                            uint64_t cap) {
    if (used_ns >= horizon_ns || rate.bytes == 0)
        return 0;
    if (rate.ns == 0)
        return cap;
    unsigned __int128 bytes =
        (unsigned __int128)(horizon_ns - used_ns) * rate.bytes / rate.ns;
    return bytes < cap ? (uint64_t)bytes : cap;
}

uint64_t rp_copy_rate_ns(struct rp_copy_rate rate, uint64_t bytes, bool round_up) {
    unsigned __int128 product = (unsigned __int128)bytes * rate.ns;
    return (uint64_t)((product + (round_up ? rate.bytes - 1 : 0)) / rate.bytes);
}
