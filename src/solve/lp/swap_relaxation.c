#include "solve/lp/swap_relaxation.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

struct rate { /* bytes in ns, of the tensor with the most bytes a ns */
    uint64_t bytes, ns;
};

static struct rate best_rate(const struct rp_instance *p, const uint64_t *copy_ns) {
    struct rate best = {0, 1};
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if ((unsigned __int128)p->bytes[x] * best.ns >
            (unsigned __int128)best.bytes * copy_ns[x])
            best = (struct rate){p->bytes[x], copy_ns[x]};
    return best;
}

/* Bytes that can be copied while `horizon_ns` pass, `used_ns` of them in vain; `cap` at
 * most.
 */
static uint64_t copied(struct rate rate, uint64_t horizon_ns, uint64_t used_ns,
                       uint64_t cap) {
    if (used_ns >= horizon_ns || rate.bytes == 0) /* mutation: same */
        return 0;
    if (rate.ns == 0)
        return cap;
    unsigned __int128 bytes =
        (unsigned __int128)(horizon_ns - used_ns) * rate.bytes / rate.ns;
    return bytes < cap ? (uint64_t)bytes : cap; /* mutation: same */
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b; /* mutation: same */
}

/* A tensor that may be on the host alone, and when it can be copied at all. */
struct item {
    uint64_t bytes, out_ns, in_ns;
    uint64_t release_ns, due_ns; /* out not before, in not after */
};

#define MAX_ITEMS 9 /* more are not looked at one by one */

struct moment {
    uint64_t start_ns, end_ns; /* of the run: out by then, in not before */
    struct item item[MAX_ITEMS];
    uint32_t n;
};

/* Can all of a set be out in time and in in time? The items are in order of release, as
 * tensors are in that of their ops; the other queue goes by due times. */
static bool can_be_away(const struct moment *m, uint32_t set) {
    uint64_t out_ns = 0;
    for (uint32_t i = 0; i < m->n; i++) { /* mutation: same */
        if (!(set >> i & 1))
            continue;
        out_ns = out_ns > m->item[i].release_ns ? out_ns : m->item[i].release_ns;
        out_ns += m->item[i].out_ns;
        uint64_t in_ns = m->end_ns;
        for (uint32_t k = 0; k < m->n; k++) /* mutation: same */
            if (set >> k & 1 && m->item[k].due_ns <= m->item[i].due_ns)
                in_ns += m->item[k].in_ns;
        if (out_ns > m->start_ns || in_ns > m->item[i].due_ns)
            return false;
    }
    return true;
}

static uint64_t max_away(struct moment *m) {
    uint64_t best = 0;
    for (uint32_t set = 1; set < 1u << m->n; set++) { /* mutation: same */
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < m->n; i++) /* mutation: same */
            bytes += set >> i & 1 ? m->item[i].bytes : 0;
        if (bytes > best && can_be_away(m, set)) /* mutation: same */
            best = bytes;
    }
    return best;
}

static bool reads(const struct rp_instance *p, uint32_t j, uint32_t x) {
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        if (p->inputs[k] == x)
            return true;
    return false;
}

/* The bytes of the tensors that may be away at all while op t, or, unless `same`, another
 * op of its stage runs, if few enough to try all sets of them; else UINT64_MAX. */
static uint64_t tried(const struct rp_instance *p, const uint32_t *last_use,
                      const uint64_t *before, uint64_t horizon_ns, uint32_t t, bool same) {
    uint64_t all = before[p->n_ops];
    struct moment m = {.start_ns = horizon_ns - (all - before[t]),
                       .end_ns = same ? before[t + 1] : before[t]};
    for (uint32_t x = 0; x < p->output_start[t]; x++) {
        uint32_t last = last_use[x];
        struct item item = {
            p->bytes[x], p->out_ns[x], p->in_ns[x], before[p->producer[x] + 1],
            last < p->n_ops ? horizon_ns - (all - before[last]) : horizon_ns};
        if (last < t + same || p->bytes[x] == 0 || (same && reads(p, t, x)) ||
            item.release_ns + item.out_ns > m.start_ns ||
            m.end_ns + item.in_ns > item.due_ns)
            continue;
        if (m.n == MAX_ITEMS)
            return UINT64_MAX;
        m.item[m.n++] = item;
    }
    return max_away(&m);
}

void rp_swap_relaxation_limits(const struct rp_instance *p, const uint32_t *last_use,
                               uint64_t horizon_ns, uint64_t *limit_bytes) {
    struct rate out = best_rate(p, p->out_ns), in = best_rate(p, p->in_ns);
    uint64_t all = 0, *before = rp_calloc((size_t)p->n_ops + 1, sizeof *before);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        all += p->bytes[x];
    all = least(all, p->host_limit_bytes);
    for (uint32_t t = 0; t < p->n_ops; t++)
        before[t + 1] = before[t] + p->time_ns[t];
    horizon_ns = horizon_ns < before[p->n_ops] ? before[p->n_ops] : horizon_ns;
    for (uint32_t t = 0; t < p->n_ops; t++) {
        uint64_t left = copied(out, horizon_ns, before[p->n_ops] - before[t], all);
        uint64_t same = copied(in, horizon_ns, before[t + 1], all);
        uint64_t other = copied(in, horizon_ns, before[t], all);
        same = least(same, tried(p, last_use, before, horizon_ns, t, true));
        other = least(other, tried(p, last_use, before, horizon_ns, t, false));
        limit_bytes[t] = p->limit_bytes + least(left, same);
        limit_bytes[p->n_ops + t] = p->limit_bytes + least(left, other);
    }
    free(before);
}
