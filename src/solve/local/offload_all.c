#include "solve/local/offload_all.h"

/* Stage `from` uses x, and stage `to` is the next that needs it. */
static void offload(const struct rp_instance *p, uint32_t x, uint32_t from, uint32_t to,
                    struct rp_schedule *s) {
    bool comes_from_host = x < p->n_homes && from == 0;
    if (!comes_from_host && (to == from + 1 || p->bytes[x] == 0 || p->pinned[x]))
        rp_schedule_change(s, x, from + 1, to);
    else
        rp_schedule_set_in(s, x, to, true);
}

void rp_schedule_offload_all(const struct rp_instance *p, bool early,
                             struct rp_schedule *s) {
    rp_schedule_fini(s);
    rp_schedule_empty(p, s);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint32_t at = p->producer[x], end = p->n_ops - 1;
        uint32_t n_reads = p->reader_start[x + 1] - (p->has_end && p->kept[x]);
        for (uint32_t k = p->reader_start[x]; k < n_reads; k++) {
            offload(p, x, at, p->readers[k], s);
            at = p->readers[k];
        }
        if (!p->kept[x])
            continue;
        if (early && (x >= p->n_homes || at > 0))
            rp_schedule_change(s, x, at + 1, end);
        else if (at < end)
            offload(p, x, at, end, s);
        rp_schedule_change(s, x, p->n_ops, p->n_ops);
    }
    rp_schedule_from_changes(s);
}
