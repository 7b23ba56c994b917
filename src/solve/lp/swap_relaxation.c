#include "solve/lp/swap_relaxation.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/lp/copy_rate.h"

/* A tensor that may be offloaded, and when it can be copied. */
struct item {
    uint64_t bytes, out_ns, in_ns;
    uint64_t release_ns; /* the copy out cannot begin earlier */
    uint64_t due_ns;     /* the copy in must have ended */
};

#define MAX_ITEMS 9 /* with more items, sets are not enumerated */

struct moment {
    uint64_t start_ns; /* of the run; copies out must have ended */
    uint64_t end_ns;   /* of the run; copies in cannot begin earlier */
    struct item item[MAX_ITEMS];
    uint32_t n;
};

/* Can every tensor of the set be swapped out before the run starts and be back before its
 * next use? One queue copies out in order of release, which is the order of the items. The
 * other copies in by due times. No other order does better (earliest due date first:
 * Jackson 1955). */
static bool is_offloadable(const struct moment *m, uint32_t set) {
    uint64_t out_ns = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        if (!(set >> i & 1))
            continue;
        out_ns = rp_max_u64(out_ns, m->item[i].release_ns) + m->item[i].out_ns;
        uint64_t in_ns = m->end_ns;
        for (uint32_t k = 0; k < m->n; k++)
            if (set >> k & 1 && m->item[k].due_ns <= m->item[i].due_ns)
                in_ns += m->item[k].in_ns;
        if (out_ns > m->start_ns || in_ns > m->item[i].due_ns)
            return false;
    }
    return true;
}

/* The bytes of the largest set that can be offloaded. */
static uint64_t max_offload_bytes(const struct moment *m) {
    uint64_t best = 0;
    for (uint32_t set = 1; set < 1u << m->n; set++) {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < m->n; i++)
            bytes += set >> i & 1 ? m->item[i].bytes : 0;
        if (bytes > best && is_offloadable(m, set))
            best = bytes;
    }
    return best;
}

/* The largest number of bytes that can be offloaded while op t runs (`same`), or while
 * another op of its stage runs. It enumerates all sets, and returns UINT64_MAX if there are
 * too many. */
static uint64_t enumerate_offloads(const struct rp_instance *p, const uint32_t *last_use,
                                   const uint64_t *before, uint64_t horizon_ns, uint32_t t,
                                   bool same) {
    uint64_t all = before[p->n_ops];
    struct moment m = {.start_ns = horizon_ns - (all - before[t]),
                       .end_ns = same ? before[t + 1] : before[t]};
    for (uint32_t x = 0; x < p->output_start[t]; x++) {
        uint32_t last = last_use[x];
        struct item item = {
            p->bytes[x], p->out_ns[x], p->in_ns[x], before[p->producer[x] + 1],
            last < p->n_ops ? horizon_ns - (all - before[last]) : horizon_ns};
        if (last < t + same || p->bytes[x] == 0 || p->pinned[x] ||
            (same && rp_op_reads(p, t, x)) || item.release_ns + item.out_ns > m.start_ns ||
            m.end_ns + item.in_ns > item.due_ns)
            continue;
        if (m.n == MAX_ITEMS)
            return UINT64_MAX;
        m.item[m.n++] = item;
    }
    return max_offload_bytes(&m);
}

void rp_swap_relaxation_limits(const struct rp_instance *p, const uint32_t *last_use,
                               uint64_t horizon_ns, uint64_t *limit_bytes) {
    struct rp_copy_rate out = rp_copy_rate_best(p, p->out_ns);
    struct rp_copy_rate in = rp_copy_rate_best(p, p->in_ns);
    uint64_t cap = 0, *before = rp_calloc((size_t)p->n_ops + 1, sizeof *before);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        cap += p->pinned[x] ? 0 : p->bytes[x];
    cap = rp_min_u64(cap, p->host_limit_bytes);
    for (uint32_t t = 0; t < p->n_ops; t++)
        before[t + 1] = before[t] + p->time_ns[t];
    uint64_t all_ns = before[p->n_ops];
    horizon_ns = rp_max_u64(horizon_ns, all_ns);
    for (uint32_t t = 0; t < p->n_ops; t++) {
        uint64_t by_out = rp_copy_rate_bytes(out, horizon_ns, all_ns - before[t], cap);
        uint64_t same = rp_copy_rate_bytes(in, horizon_ns, before[t + 1], cap);
        uint64_t other = rp_copy_rate_bytes(in, horizon_ns, before[t], cap);
        uint64_t sets = enumerate_offloads(p, last_use, before, horizon_ns, t, true);
        same = rp_min_u64(same, sets);
        sets = enumerate_offloads(p, last_use, before, horizon_ns, t, false);
        other = rp_min_u64(other, sets);
        limit_bytes[t] = p->limit_bytes + rp_min_u64(by_out, same);
        limit_bytes[p->n_ops + t] = p->limit_bytes + rp_min_u64(by_out, other);
    }
    free(before);
}
