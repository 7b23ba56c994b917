#include "solve/away.h"

#include "base/mem.h"

struct rate { /* bytes in ns, of the tensor with the most bytes a ns */
    uint64_t bytes, ns;
};

static struct rate best_rate(const struct rp_problem *p, const uint64_t *copy_ns) {
    struct rate best = {0, 1};
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if ((unsigned __int128)p->bytes[x] * best.ns >
            (unsigned __int128)best.bytes * copy_ns[x])
            best = (struct rate){p->bytes[x], copy_ns[x]};
    return best;
}

/* Bytes that can be copied while `most_ns` pass, `used_ns` of them in vain; `cap` at most.
 */
static uint64_t copied(struct rate rate, uint64_t most_ns, uint64_t used_ns, uint64_t cap) {
    if (used_ns >= most_ns || rate.bytes == 0)
        return 0;
    if (rate.ns == 0)
        return cap;
    unsigned __int128 bytes = (unsigned __int128)(most_ns - used_ns) * rate.bytes / rate.ns;
    return bytes < cap ? (uint64_t)bytes : cap;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void rp_away_limits(const struct rp_problem *p, uint64_t most_ns, uint64_t *limit_bytes) {
    struct rate out = best_rate(p, p->out_ns), in = best_rate(p, p->in_ns);
    uint64_t before = 0, after = 0, all = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        all += p->bytes[x];
    all = least(all, p->host_limit_bytes);
    for (uint32_t t = 0; t < p->n_ops; t++)
        after += p->time_ns[t];
    for (uint32_t t = 0; t < p->n_ops; t++) {
        uint64_t left = copied(out, most_ns, after, all);
        uint64_t same = copied(in, most_ns, before + p->time_ns[t], all);
        uint64_t other = copied(in, most_ns, before, all);
        limit_bytes[t] = p->limit_bytes + least(left, same);
        limit_bytes[p->n_ops + t] = p->limit_bytes + least(left, other);
        before += p->time_ns[t];
        after -= p->time_ns[t];
    }
}
