#include "solve/bound/copies_bound.h"

#include <stdlib.h>

#include "base/numbers.h"
#include "solve/lp/copy_rate.h"

uint64_t rp_copies_bound_ns(const struct rp_instance *p) {
    uint64_t total_ns = p->graph->total_time_ns, before_ns = 0, bound_ns = total_ns;
    if (p->n_homes > 0)
        return total_ns;
    struct rp_copy_rate out = rp_copy_rate_best(p, p->out_ns);
    struct rp_copy_rate in = rp_copy_rate_best(p, p->in_ns);
    int64_t *bytes = rp_instance_bytes_in_use(p), limit = (int64_t)p->limit_bytes;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        uint64_t after_ns = total_ns - before_ns - p->time_ns[j];
        uint64_t excess = bytes[j] > limit ? (uint64_t)(bytes[j] - limit) : 0;
        uint64_t begin_ns = rp_max_u64(before_ns, rp_copy_rate_ns(out, excess, true));
        uint64_t rest_ns = rp_max_u64(after_ns, rp_copy_rate_ns(in, excess, true));
        bound_ns = rp_max_u64(bound_ns, begin_ns + p->time_ns[j] + rest_ns);
        before_ns += p->time_ns[j];
    }
    free(bytes);
    return bound_ns;
}
