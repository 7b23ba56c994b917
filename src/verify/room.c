#include "verify/room.h"

#include <stdlib.h>

#include "base/mem.h"
#include "verify/timeline.h"

/* Is a / a_ns more than b / b_ns? */
static bool faster(uint64_t a, uint64_t a_ns, uint64_t b, uint64_t b_ns) {
    return (unsigned __int128)a * b_ns > (unsigned __int128)b * a_ns;
}

static bool add_tensor(struct rp_room *r, const struct rp_graph *g, uint32_t x,
                       bool addressed) {
    const struct rp_device *d = &g->device;
    uint64_t bytes = g->tensors[x].bytes, out_ns, in_ns;
    uint64_t size = addressed ? rp_round_up(bytes, d->alignment_bytes) : bytes;
    if (!rp_timeline_copy_ns(d->copy_latency_ns, bytes, d->d2h_bytes_per_s, &out_ns) ||
        !rp_timeline_copy_ns(d->copy_latency_ns, bytes, d->h2d_bytes_per_s, &in_ns))
        return false;
    if (faster(size, out_ns, r->out_bytes, r->out_ns)) {
        r->out_bytes = size;
        r->out_ns = out_ns;
    }
    if (faster(size, in_ns, r->in_bytes, r->in_ns)) {
        r->in_bytes = size;
        r->in_ns = in_ns;
    }
    r->host_bytes += size; /* the graph's sizes fit in 63 bits together */
    return true;
}

bool rp_room_init(struct rp_room *r, const struct rp_graph *g, const uint32_t *order,
                  bool addressed, uint64_t most_ns, uint64_t host_budget_bytes) {
    *r = (struct rp_room){.out_ns = 1, .in_ns = 1, .most_ns = most_ns};
    if (g->device.d2h_bytes_per_s == 0 || g->device.h2d_bytes_per_s == 0)
        return false;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].producer != RP_NONE && !add_tensor(r, g, x, addressed))
            return false;
    if (r->host_bytes > host_budget_bytes) /* mutation: same */
        r->host_bytes = host_budget_bytes;
    r->before = rp_calloc((size_t)g->n_ops + 1, sizeof *r->before);
    for (uint32_t t = 0; t < g->n_ops; t++)
        r->before[t + 1] = r->before[t] + g->ops[order[t]].time_ns;
    return true;
}

void rp_room_fini(struct rp_room *r) {
    free(r->before);
    *r = (struct rp_room){0};
}

/* Copied one after the other, in the time that is left when used_ns are not there for it.
 */
static uint64_t copied(uint64_t bytes, uint64_t ns, uint64_t most_ns, uint64_t used_ns) {
    if (used_ns > most_ns) /* mutation: same */
        return 0;
    unsigned __int128 product = (unsigned __int128)(most_ns - used_ns) * bytes;
    return product / ns > UINT64_MAX ? UINT64_MAX : (uint64_t)(product / ns);
}

uint64_t rp_room_away(const struct rp_room *r, uint32_t n_ops, uint32_t t, bool last) {
    uint64_t after = r->before[n_ops] - r->before[t];
    uint64_t out = copied(r->out_bytes, r->out_ns, r->most_ns, after);
    uint64_t in =
        copied(r->in_bytes, r->in_ns, r->most_ns, last ? r->before[t + 1] : r->before[t]);
    uint64_t least = out < in ? out : in;
    return least < r->host_bytes ? least : r->host_bytes;
}
