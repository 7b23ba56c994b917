#include "solve/exhaustive/astar_search.h"

#include <assert.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "solve/core/heap.h"

enum {
    /* More work than this for each state is not worth it. */
    MAX_WORK_PER_STATE = 2000,
    NS_PER_WORK = 4, /* about */
    WORK_PER_SET = 10
};

/* A state, while steps are tried from it. */
struct state {
    struct rp_astar_state s;
    struct rp_astar_ends ends;
};

/* ---- the open nodes ---- */

/* The smallest min_ns first, then the most first runs; of two equal nodes, the newer
 * one. */
static bool before(const void *context, const void *left, const void *right) {
    const struct rp_astar_search *f = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct rp_astar_node *m = &f->k.node[a], *n = &f->k.node[b];
    if (m->min_ns != n->min_ns)
        return m->min_ns < n->min_ns;
    if (m->s.n_first != n->s.n_first)
        return m->s.n_first > n->s.n_first;
    return a > b;
}

static void push_open(struct rp_astar_search *f, uint32_t node) {
    rp_push(&f->open, node);
    rp_heap_push(f->open.at, f->open.n, sizeof node, before, f);
}

static uint32_t pop_open(struct rp_astar_search *f) {
    rp_heap_pop(f->open.at, f->open.n, sizeof *f->open.at, before, f);
    return f->open.at[--f->open.n];
}

/* Counts comparisons of two states, or sets of frees. True if the search is to end.
 * Children of the present node may be missing then. */
static bool spend(struct rp_astar_search *f, uint64_t work) {
    f->work += work;
    return f->work > f->max_work || rp_stop_after(f->o->stop, NS_PER_WORK * work);
}

static struct state state_of(const struct rp_astar_search *f, uint32_t node) {
    struct state a;
    a.s = f->k.node[node].s;
    rp_astar_states_ends(&f->k, node, &a.ends);
    return a;
}

/* Adds a state that the step `by` leads to, unless it is too slow or dominated. */
static void add_state(struct rp_astar_search *f, const struct state *s,
                      struct rp_astar_step by) {
    uint64_t min_ns = rp_astar_min_time(f->q, &s->s, &s->ends), compared = f->k.compared;
    if (min_ns >= f->below_ns) {
        f->statistics.pruned_by_bound++;
        return;
    }
    if (f->k.n_nodes == f->k.max_nodes)
        return;
    if (rp_astar_states_add(&f->k, &s->s, &s->ends, min_ns, by)) {
        push_open(f, f->k.n_nodes - 1);
        f->statistics.states_added++;
    } else {
        f->statistics.dominated++;
    }
    spend(f, f->k.compared - compared);
}

/* ---- steps ---- */

/* Frees a set. False if a copy in of one of them is still under way. */
static bool free_set(struct state *a, uint64_t set) {
    struct rp_astar_state *s = &a->s;
    s->device &= ~set;
    while (set != 0) {
        uint32_t x = rp_astar_take(&set);
        if (rp_astar_has(s->host, x))
            s->clock_ns = rp_max_u64(s->clock_ns, a->ends.host_ready_ns[x]);
        if (a->ends.ready_ns[x] > s->clock_ns)
            return false;
    }
    return true;
}

/* Waits for a set on the device. */
static void await(struct state *a, uint64_t set) {
    while (set != 0)
        a->s.clock_ns = rp_max_u64(a->s.clock_ns, a->ends.ready_ns[rp_astar_take(&set)]);
}

static bool any_under_way(const struct state *a, uint64_t set) {
    while (set != 0)
        if (a->ends.ready_ns[rp_astar_take(&set)] > a->s.clock_ns)
            return true;
    return false;
}

/* Runs an op, and changes *a. */
static void run(struct rp_astar_search *f, struct state *a, struct rp_astar_step by) {
    struct rp_astar_state *s = &a->s;
    uint32_t j = by.id;
    uint64_t made = f->q->out[j] & ~s->device;
    await(a, f->q->in[j]);
    if (any_under_way(a, f->q->out[j] & s->device))
        return;
    s->clock_ns += f->q->p->time_ns[j];
    s->device |= f->q->out[j];
    if (j == s->n_first) {
        s->n_first++;
        s->moment_ns = s->clock_ns;
    }
    by.dropped = rp_astar_unwanted(f->q, s, &a->ends);
    s->device &= ~by.dropped;
    s->copyable = f->q->p->out_ns != NULL ? made & s->device & ~s->host & ~f->q->small : 0;
    add_state(f, a, by);
}

/* Copies a tensor in, and changes *a. */
static void swap_in(struct rp_astar_search *f, struct state *a, struct rp_astar_step by) {
    struct rp_astar_state *s = &a->s;
    uint32_t x = by.id;
    s->device |= rp_astar_bit(x);
    s->h2d_ns = rp_max_u64(rp_max_u64(s->clock_ns, s->h2d_ns), a->ends.host_ready_ns[x]) +
                f->q->p->in_ns[x];
    a->ends.ready_ns[x] = s->h2d_ns;
    s->copyable = 0;
    add_state(f, a, by);
}

static void swap_out(struct rp_astar_search *f, const struct state *from,
                     struct rp_astar_step by) {
    struct state a = *from;
    struct rp_astar_state *s = &a.s;
    uint32_t x = by.id;
    s->host |= rp_astar_bit(x);
    if (rp_astar_bytes(f->q->p->bytes, s->host) > f->host_limit_bytes)
        return;
    s->d2h_ns = rp_max_u64(rp_max_u64(s->clock_ns, s->d2h_ns), a.ends.ready_ns[x]) +
                f->q->p->out_ns[x];
    a.ends.host_ready_ns[x] = s->d2h_ns;
    s->copyable = s->device & ~s->host & ~f->q->small;
    add_state(f, &a, by);
}

/* Takes the step `by` after every minimal set of frees that yields `need` bytes. A set is
 * by.freed and some of `may`. It is minimal if without any one of its tensors there would
 * be too little. */
static void free_and_take(struct rp_astar_search *f, const struct state *a,
                          struct rp_astar_step by, uint64_t need, uint64_t may) {
    const uint64_t *bytes = f->q->bytes;
    uint64_t got = rp_astar_bytes(bytes, by.freed);
    if (got >= need) {
        for (uint64_t freed = by.freed; freed != 0;)
            if (got - bytes[rp_astar_take(&freed)] >= need)
                return;
        struct state after = *a;
        if (free_set(&after, by.freed))
            (by.kind == RP_RUN ? run : swap_in)(f, &after, by);
        return;
    }
    while (got + rp_astar_bytes(bytes, may) >= need && !spend(f, WORK_PER_SET)) {
        struct rp_astar_step more = by;
        uint32_t x = rp_astar_take(&may);
        more.freed |= rp_astar_bit(x);
        if (bytes[x] > 0)
            free_and_take(f, a, more, need, may);
    }
}

static void try_run(struct rp_astar_search *f, const struct state *a, uint32_t node,
                    uint32_t j) {
    const struct rp_astar_problem *q = f->q;
    uint64_t device = a->s.device;
    bool again = j < a->s.n_first;
    if ((q->in[j] & ~device) != 0 || (again && ((q->out[j] & ~device) == 0 ||
                                                !rp_astar_has(q->useful[a->s.n_first], j))))
        return;
    /* What cannot be rewritten may be freed to be made again: that saves the workspace. */
    free_and_take(f, a, (struct rp_astar_step){node, RP_RUN, j, 0, 0},
                  rp_astar_excess_to_run(q, q->bytes, device, j),
                  device & ~q->in[j] & ~(q->out[j] & ~q->shadows) & ~q->pinned);
}

static void try_swap_in(struct rp_astar_search *f, const struct state *a, uint32_t node,
                        uint32_t x) {
    uint64_t with = a->s.device | rp_astar_bit(x);
    free_and_take(f, a, (struct rp_astar_step){node, RP_SWAP_IN, x, 0, 0},
                  rp_astar_excess(f->q, f->q->bytes, with), a->s.device & ~f->q->pinned);
}

/* Tries every step from a state. */
static void expand(struct rp_astar_search *f, uint32_t node) {
    struct state a = state_of(f, node);
    const struct rp_astar_state *s = &a.s;
    for (uint32_t j = 0; j <= s->n_first && j < f->q->p->n_ops; j++)
        try_run(f, &a, node, j);
    uint64_t copies = s->copyable | (s->host & ~s->device);
    for (copies &= f->q->wanted[s->n_first]; copies != 0;) {
        uint32_t x = rp_astar_take(&copies);
        if (rp_astar_has(s->copyable, x))
            swap_out(f, &a, (struct rp_astar_step){node, RP_SWAP_OUT, x, 0, 0});
        else
            try_swap_in(f, &a, node, x);
    }
}

/* ---- the search ---- */

static bool is_end(const struct rp_astar_search *f, const struct rp_astar_state *s) {
    return s->n_first == f->q->p->n_ops && (f->q->in[s->n_first] & ~s->device) == 0;
}

/* Is there no more room, or time? A child of the last node may be missing then. */
static bool is_over(struct rp_astar_search *f) {
    return f->k.n_nodes == f->k.max_nodes || spend(f, 1);
}

/* By another process? */
static bool is_proved(const struct rp_astar_search *f) {
    const struct rp_astar_options *o = f->o;
    return o->proved_ns != NULL &&
           __atomic_load_n(o->proved_ns, __ATOMIC_RELAXED) >= o->below_ns;
}

/* A state may have a lower min_ns than the one that it follows, but the bounds of both
 * hold. */
static uint32_t search(struct rp_astar_search *f) {
    while (f->open.n > 0) {
        uint32_t node = pop_open(f);
        f->bound_ns = rp_max_u64(f->bound_ns, f->k.node[node].min_ns);
        if (f->k.node[node].dominated) {
            f->statistics.dominated++;
            continue;
        }
        if (is_end(f, &f->k.node[node].s))
            return node;
        if (rp_stop_after(f->o->stop, 0) || is_proved(f))
            return RP_NONE;
        expand(f, node);
        f->statistics.expanded++;
        if (is_over(f))
            return RP_NONE;
    }
    f->bound_ns = f->below_ns;
    return RP_NONE;
}

static void init(struct rp_astar_search *f, const struct rp_astar_problem *q,
                 const struct rp_astar_options *o, uint64_t host_limit_bytes,
                 uint32_t max_states) {
    uint64_t all_bytes = rp_astar_bytes(q->p->bytes, q->made[q->p->n_ops]);
    *f = (struct rp_astar_search){.q = q,
                                  .o = o,
                                  .below_ns = o->below_ns,
                                  .host_limit_bytes = host_limit_bytes,
                                  .max_work = (uint64_t)MAX_WORK_PER_STATE * max_states};
    rp_astar_states_init(&f->k, max_states, all_bytes <= host_limit_bytes);
    rp_stop_now(o->stop);
}

uint32_t rp_astar_search_run(struct rp_astar_search *f, const struct rp_astar_problem *q,
                             const struct rp_astar_options *o, uint32_t max_states) {
    init(f, q, o, q->p->host_limit_bytes, max_states);
    add_state(f, &(struct state){0}, (struct rp_astar_step){.parent = RP_NONE});
    return search(f);
}

void rp_astar_search_window(struct rp_astar_search *f, const struct rp_astar_problem *q,
                            const struct rp_astar_options *o, uint32_t t,
                            uint32_t max_states) {
    uint64_t before_ns = q->remaining_ns[0] - q->remaining_ns[t - 1];
    uint64_t made = q->made[t - 1] & q->wanted[t - 1];
    struct state all = {.s = {.n_first = t - 1,
                              .device = made,
                              .host = q->p->out_ns != NULL ? made & ~q->small : 0}};
    init(f, q, o, UINT64_MAX, max_states);
    assert(o->below_ns > before_ns);
    f->below_ns -= before_ns;
    add_state(f, &all, (struct rp_astar_step){.parent = RP_NONE});
    if (f->open.n > 0)
        try_run(f, &all, pop_open(f), t - 1);
    if (!is_over(f))
        search(f);
}

void rp_astar_search_fini(struct rp_astar_search *f) {
    rp_astar_states_fini(&f->k);
    free(f->open.at);
    *f = (struct rp_astar_search){0};
}
