#include "verify/host_capacity.h"

#include <stdlib.h>

#include "base/mem.h"
#include "verify/check_timeline.h"

/* Is a / a_ns more than b / b_ns? */
static bool faster(uint64_t a, uint64_t a_ns, uint64_t b, uint64_t b_ns) {
    return (unsigned __int128)a * b_ns > (unsigned __int128)b * a_ns;
}

static bool add_tensor(struct rp_host_capacity *r, const struct rp_graph *g, uint32_t x,
                       bool addressed) {
    const struct rp_device *d = &g->device;
    uint64_t bytes = g->tensors[x].bytes, out_ns, in_ns;
    uint64_t size = addressed ? rp_rounding_up(bytes, d->alignment_bytes) : bytes;
    if (!rp_check_timeline_copy_ns(d->copy_latency_ns, bytes, d->d2h_bytes_per_s,
                                   &out_ns) ||
        !rp_check_timeline_copy_ns(d->copy_latency_ns, bytes, d->h2d_bytes_per_s, &in_ns))
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

bool rp_host_capacity_init(struct rp_host_capacity *r, const struct rp_lp_variables *c,
                           const uint32_t *order, bool addressed, uint64_t horizon_ns,
                           uint64_t host_budget_bytes) {
    const struct rp_graph *g = c->g;
    *r = (struct rp_host_capacity){.c = c, .out_ns = 1, .in_ns = 1, .addressed = addressed};
    r->horizon_ns = horizon_ns > g->total_time_ns ? horizon_ns : g->total_time_ns;
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

void rp_host_capacity_fini(struct rp_host_capacity *r) {
    free(r->before);
    *r = (struct rp_host_capacity){0};
}

/* Copied one after the other, in the time that is left when used_ns are not there for it.
 */
static uint64_t copied(uint64_t bytes, uint64_t ns, uint64_t horizon_ns, uint64_t used_ns) {
    if (used_ns > horizon_ns) /* mutation: same */
        return 0;
    unsigned __int128 product = (unsigned __int128)(horizon_ns - used_ns) * bytes;
    return product / ns > UINT64_MAX ? UINT64_MAX : (uint64_t)(product / ns);
}

/* ---- tensor by tensor ---- */

/* One that may be on the host alone at all: out from `made_ns` on, in by `due_ns`. */
struct parcel {
    uint64_t size, out_ns, in_ns, made_ns, due_ns;
};

struct parcels {
    struct parcel at[RP_ROOM_PARCELS];
    uint32_t n;
    uint64_t start_ns, end_ns; /* of the run: out by its start, in from its end */
};

static bool is_input(const struct rp_op *op, uint32_t x) {
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (op->inputs[k] == x)
            return true;
    return false;
}

/* When the last run that may read x starts at the latest; false if none is after the run.
 */
static bool find_due(const struct rp_host_capacity *r, uint32_t x, uint32_t first_use,
                     uint64_t *due_ns) {
    const struct rp_lp_variables *c = r->c;
    *due_ns = r->horizon_ns;
    if (c->last_hold[x] >= c->n_stages) /* kept */
        return true;
    uint32_t place = c->last_place[c->last_hold[x]];
    *due_ns -= r->before[c->g->n_ops] - r->before[place];
    return place >= first_use;
}

/* Which parcel x is while a run of stage t is under way; false if it is none. */
static bool find_parcel(const struct rp_host_capacity *r, const struct parcels *all,
                        uint32_t x, uint32_t place, bool last, struct parcel *p) {
    const struct rp_graph *g = r->c->g;
    const struct rp_device *d = &g->device;
    uint32_t maker = g->tensors[x].producer;
    uint64_t bytes = g->tensors[x].bytes;
    if (maker == RP_NONE || r->c->place[maker] >= place || bytes == 0)
        return false;
    *p = (struct parcel){.size =
                             rp_rounding_up(bytes, r->addressed ? d->alignment_bytes : 1),
                         .made_ns = r->before[r->c->place[maker] + 1]};
    if (!rp_check_timeline_copy_ns(d->copy_latency_ns, bytes, d->d2h_bytes_per_s,
                                   &p->out_ns) ||
        !rp_check_timeline_copy_ns(d->copy_latency_ns, bytes, d->h2d_bytes_per_s,
                                   &p->in_ns) ||
        !find_due(r, x, place + last, &p->due_ns))
        return false;
    return p->made_ns + p->out_ns <= all->start_ns && all->end_ns + p->in_ns <= p->due_ns;
}

/* The parcels of a set go out one after the other, each from when it is made on. */
static bool gets_out(const struct parcels *all, uint32_t set) {
    uint64_t clock = 0;
    while (set != 0) {
        uint32_t next = RP_ROOM_PARCELS;
        for (uint32_t i = 0; i < all->n; i++)
            if (set >> i & 1 &&
                (next == RP_ROOM_PARCELS ||
                 all->at[i].made_ns < all->at[next].made_ns)) /* mutation: same */
                next = i;
        set &= ~(1u << next);
        if (clock < all->at[next].made_ns) /* mutation: same */
            clock = all->at[next].made_ns;
        clock += all->at[next].out_ns;
    }
    return clock <= all->start_ns;
}

/* Those that are due by some time have come in by then. */
static bool gets_in(const struct parcels *all, uint32_t set) {
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

/* The largest set of parcels that gets out and in; UINT64_MAX if there are too many. */
static uint64_t largest_set(const struct rp_host_capacity *r, uint32_t t, bool last) {
    const struct rp_lp_variables *c = r->c;
    const struct rp_graph *g = c->g;
    uint32_t place = c->last_place[t];
    struct parcels all = {.start_ns =
                              r->horizon_ns - (r->before[g->n_ops] - r->before[place]),
                          .end_ns = r->before[last ? place + 1 : place]};
    const struct rp_op *op = &g->ops[c->last_op[t]];
    uint64_t best = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        struct parcel p;
        if ((last && is_input(op, x)) || !find_parcel(r, &all, x, place, last, &p))
            continue;
        if (all.n == RP_ROOM_PARCELS)
            return UINT64_MAX;
        all.at[all.n++] = p;
    }
    for (uint32_t set = 1; set < 1u << all.n; set++) { /* mutation: same */
        uint64_t size = 0;
        for (uint32_t i = 0; i < all.n; i++)
            size += set >> i & 1 ? all.at[i].size : 0;
        if (size > best && gets_out(&all, set) && gets_in(&all, set)) /* mutation: same */
            best = size;
    }
    return best;
}

static uint64_t less(uint64_t a, uint64_t b) {
    return a < b ? a : b; /* mutation: same */
}

uint64_t rp_host_capacity_away(const struct rp_host_capacity *r, uint32_t t, bool last) {
    uint32_t place = r->c->last_place[t];
    uint64_t after = r->before[r->c->g->n_ops] - r->before[place];
    uint64_t out = copied(r->out_bytes, r->out_ns, r->horizon_ns, after);
    uint64_t in = copied(r->in_bytes, r->in_ns, r->horizon_ns,
                         last ? r->before[place + 1] : r->before[place]);
    return less(less(out, in), less(r->host_bytes, largest_set(r, t, last)));
}
