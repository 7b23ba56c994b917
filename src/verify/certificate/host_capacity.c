#include "verify/certificate/host_capacity.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "verify/queue_clocks.h"

/* Is a_bytes / a_ns more than b_bytes / b_ns? */
static bool is_faster(uint64_t a_bytes, uint64_t a_ns, uint64_t b_bytes, uint64_t b_ns) {
    return (unsigned __int128)a_bytes * b_ns > (unsigned __int128)b_bytes * a_ns;
}

static bool add_tensor(struct rp_host_capacity *r, const struct rp_graph *g, uint32_t x,
                       bool addressed) {
    const struct rp_device *d = &g->device;
    uint64_t bytes = g->tensors[x].bytes, out_ns, in_ns;
    uint64_t size = addressed ? rp_round_up(bytes, d->alignment_bytes) : bytes;
    if (!rp_queue_clocks_copy_ns(d->copy_latency_ns, bytes, d->d2h_bytes_per_s, &out_ns) ||
        !rp_queue_clocks_copy_ns(d->copy_latency_ns, bytes, d->h2d_bytes_per_s, &in_ns))
        return false;
    if (is_faster(size, out_ns, r->out_bytes, r->out_ns)) {
        r->out_bytes = size;
        r->out_ns = out_ns;
    }
    if (is_faster(size, in_ns, r->in_bytes, r->in_ns)) {
        r->in_bytes = size;
        r->in_ns = in_ns;
    }
    r->host_bytes += size; /* the graph's sizes fit in 63 bits together */
    return true;
}

bool rp_host_capacity_init(struct rp_host_capacity *r, const struct rp_lp_variables *c,
                           const uint32_t *order, bool addressed, uint64_t horizon_ns,
                           uint64_t host_budget_bytes) {
    const struct rp_graph *g = c->g;
    *r = (struct rp_host_capacity){.c = c, .out_ns = 1, .in_ns = 1, .addressed = addressed};
    r->horizon_ns = rp_max_u64(horizon_ns, g->total_time_ns);
    if (g->device.d2h_bytes_per_s == 0 || g->device.h2d_bytes_per_s == 0)
        return false;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].producer != RP_NONE && !add_tensor(r, g, x, addressed))
            return false;
    if (r->host_bytes > host_budget_bytes)
        r->host_bytes = host_budget_bytes;
    r->before_ns = rp_calloc((size_t)g->n_ops + 1, sizeof *r->before_ns);
    for (uint32_t t = 0; t < g->n_ops; t++)
        r->before_ns[t + 1] = r->before_ns[t] + g->ops[order[t]].time_ns;
    return true;
}

void rp_host_capacity_fini(struct rp_host_capacity *r) {
    free(r->before_ns);
    *r = (struct rp_host_capacity){0};
}

/* The bytes that can be copied in horizon_ns - used_ns, at the rate bytes / ns. */
static uint64_t max_copied(uint64_t bytes, uint64_t ns, uint64_t horizon_ns,
                           uint64_t used_ns) {
    if (used_ns > horizon_ns)
        return 0;
    unsigned __int128 product = (unsigned __int128)(horizon_ns - used_ns) * bytes;
    return product / ns > UINT64_MAX ? UINT64_MAX : (uint64_t)(product / ns);
}

/* ---- sets of tensors ---- */

/* A tensor that may be on the host alone during a run. Its copy out starts at ready_ns at
 * the earliest, and its copy in ends at due_ns at the latest. */
struct offload {
    uint64_t size, out_ns, in_ns, ready_ns, due_ns;
};

struct offloads {
    struct offload at[RP_HOST_CAPACITY_MAX_TENSORS];
    uint32_t n;
    uint64_t start_ns; /* the latest start of the run: all have been copied out by then */
    uint64_t end_ns;   /* its earliest end: none is copied in before that */
};

static bool is_input(const struct rp_op *op, uint32_t x) {
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (op->inputs[k] == x)
            return true;
    return false;
}

/* *due_ns: the latest start of the last run that may read x, the horizon if x is kept.
 * False if x cannot be read at position `first_use` or later. */
static bool find_due(const struct rp_host_capacity *r, uint32_t x, uint32_t first_use,
                     uint64_t *due_ns) {
    const struct rp_lp_variables *c = r->c;
    *due_ns = r->horizon_ns;
    if (c->last_hold[x] >= c->n_stages) /* kept */
        return true;
    uint32_t position = c->last_position[c->last_hold[x]];
    *due_ns -= r->before_ns[c->g->n_ops] - r->before_ns[position];
    return position >= first_use;
}

/* Can x be on the host alone during the run? `position` is that of the op that ends the
 * stage, and `last` says whether the run is of that op. */
static bool find_offload(const struct rp_host_capacity *r, const struct offloads *all,
                         uint32_t x, uint32_t position, bool last, struct offload *p) {
    const struct rp_graph *g = r->c->g;
    const struct rp_device *d = &g->device;
    uint32_t maker = g->tensors[x].producer;
    uint64_t bytes = g->tensors[x].bytes;
    if (maker == RP_NONE || r->c->position[maker] >= position || bytes == 0)
        return false;
    *p = (struct offload){.size = rp_round_up(bytes, r->addressed ? d->alignment_bytes : 1),
                          .ready_ns = r->before_ns[r->c->position[maker] + 1]};
    if (!rp_queue_clocks_copy_ns(d->copy_latency_ns, bytes, d->d2h_bytes_per_s,
                                 &p->out_ns) ||
        !rp_queue_clocks_copy_ns(d->copy_latency_ns, bytes, d->h2d_bytes_per_s,
                                 &p->in_ns) ||
        !find_due(r, x, position + last, &p->due_ns))
        return false;
    return p->ready_ns + p->out_ns <= all->start_ns && all->end_ns + p->in_ns <= p->due_ns;
}

/* Can all tensors of a set be copied out before the run starts, one after the other, each
 * after it was made? It is best to copy them in the order in which they are made. */
static bool fits_out(const struct offloads *all, uint32_t set) {
    uint64_t clock = 0;
    while (set != 0) {
        uint32_t next = RP_HOST_CAPACITY_MAX_TENSORS;
        for (uint32_t i = 0; i < all->n; i++)
            if (set >> i & 1 && (next == RP_HOST_CAPACITY_MAX_TENSORS ||
                                 all->at[i].ready_ns < all->at[next].ready_ns))
                next = i;
        set &= ~(1u << next);
        if (clock < all->at[next].ready_ns)
            clock = all->at[next].ready_ns;
        clock += all->at[next].out_ns;
    }
    return clock <= all->start_ns;
}

/* Can every tensor of a set be copied back by its due time? For each due time, the copies
 * of all tensors that are due by then must fit between the end of the run and that time. */
static bool fits_in(const struct offloads *all, uint32_t set) {
    for (uint32_t i = 0; i < all->n; i++) {
        uint64_t clock = all->end_ns;
        for (uint32_t k = 0; k < all->n; k++)
            if (set >> k & 1 && all->at[k].due_ns <= all->at[i].due_ns)
                clock += all->at[k].in_ns;
        if (set >> i & 1 && clock > all->at[i].due_ns)
            return false;
    }
    return true;
}

/* The bytes of the largest set of tensors that can be copied out before the run and back in
 * time. UINT64_MAX if there are too many tensors to try all sets. */
static uint64_t max_offload(const struct rp_host_capacity *r, uint32_t t, bool last) {
    const struct rp_lp_variables *c = r->c;
    const struct rp_graph *g = c->g;
    uint32_t position = c->last_position[t];
    struct offloads all = {.start_ns = r->horizon_ns -
                                       (r->before_ns[g->n_ops] - r->before_ns[position]),
                           .end_ns = r->before_ns[last ? position + 1 : position]};
    const struct rp_op *op = &g->ops[c->last_op[t]];
    uint64_t best = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        struct offload p;
        if ((last && is_input(op, x)) || !find_offload(r, &all, x, position, last, &p))
            continue;
        if (all.n == RP_HOST_CAPACITY_MAX_TENSORS)
            return UINT64_MAX;
        all.at[all.n++] = p;
    }
    for (uint32_t set = 1; set < 1u << all.n; set++) {
        uint64_t size = 0;
        for (uint32_t i = 0; i < all.n; i++)
            size += set >> i & 1 ? all.at[i].size : 0;
        if (size > best && fits_out(&all, set) && fits_in(&all, set))
            best = size;
    }
    return best;
}

uint64_t rp_host_capacity_max_bytes(const struct rp_host_capacity *r, uint32_t t,
                                    bool last) {
    uint32_t position = r->c->last_position[t];
    uint64_t after = r->before_ns[r->c->g->n_ops] - r->before_ns[position];
    uint64_t out = max_copied(r->out_bytes, r->out_ns, r->horizon_ns, after);
    uint64_t in = max_copied(r->in_bytes, r->in_ns, r->horizon_ns,
                             last ? r->before_ns[position + 1] : r->before_ns[position]);
    return rp_min_u64(rp_min_u64(out, in),
                      rp_min_u64(r->host_bytes, max_offload(r, t, last)));
}
