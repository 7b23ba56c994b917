#include "solve/exhaustive/astar_expand.h"

#include <stdbool.h>

#include "base/numbers.h"

enum { WORK_PER_SET = 10 }; /* of tensors to free */

/* A state, while steps are tried from it. */
struct state {
    struct rp_astar_state s;
    struct rp_astar_ends ends;
};

static void add_state(struct rp_astar_search *f, const struct state *a,
                      struct rp_astar_step by) {
    rp_astar_open_add(f, &a->s, &a->ends, by);
}

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

/* The versions of sources that an op replaces: it waits until they have been copied out,
 * and what lies on the host is out of date then. */
static void replace(struct state *a, uint64_t versions) {
    struct rp_astar_state *s = &a->s;
    for (uint64_t left = versions & s->host; left != 0;)
        s->clock_ns = rp_max_u64(s->clock_ns, a->ends.host_ready_ns[rp_astar_take(&left)]);
    s->device &= ~versions;
    s->host &= ~versions;
}

/* Runs an op, and changes *a. */
static void run(struct rp_astar_search *f, struct state *a, struct rp_astar_step by) {
    struct rp_astar_state *s = &a->s;
    uint32_t j = by.id;
    uint64_t made = f->q->out[j] & ~rp_astar_there(f->q, s);
    await(a, f->q->in[j]);
    if (any_under_way(a, f->q->out[j] & s->device))
        return;
    replace(a, f->q->replaced[j]);
    s->clock_ns += f->q->p->time_ns[j];
    s->device |= made;
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
    if (rp_astar_bytes(f->q->p->bytes, s->host & ~f->q->versions) +
            f->q->homes[s->homes].host_bytes >
        f->host_limit_bytes)
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
    while (got + rp_astar_bytes(bytes, may) >= need &&
           !rp_astar_open_spend(f, WORK_PER_SET)) {
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
    if ((q->in[j] & ~rp_astar_there(q, &a->s)) != 0 ||
        (again &&
         ((q->out[j] & ~device) == 0 || !rp_astar_has(q->useful[a->s.n_first], j))))
        return;
    /* What cannot be rewritten may be freed to be made again: that saves the workspace. */
    free_and_take(f, a, (struct rp_astar_step){node, RP_RUN, j, 0, 0},
                  rp_astar_excess_to_run(q, a->s.homes, q->bytes, device, j),
                  device & ~q->in[j] & ~(q->out[j] & ~q->shadows) &
                      ~rp_astar_unfreeable(q, &a->s));
}

static void try_swap_in(struct rp_astar_search *f, const struct state *a, uint32_t node,
                        uint32_t x) {
    uint64_t with = a->s.device | rp_astar_bit(x);
    free_and_take(f, a, (struct rp_astar_step){node, RP_SWAP_IN, x, 0, 0},
                  rp_astar_excess(f->q, a->s.homes, f->q->bytes, with),
                  a->s.device & ~rp_astar_unfreeable(f->q, &a->s));
}

static struct state state_of(const struct rp_astar_search *f, uint32_t node) {
    struct state a = {.s = f->k.node[node].s};
    rp_astar_states_ends(&f->k, node, &a.ends);
    return a;
}

void rp_astar_expand_by_run(struct rp_astar_search *f, uint32_t node, uint32_t j) {
    struct state a = state_of(f, node);
    try_run(f, &a, node, j);
}

void rp_astar_expand(struct rp_astar_search *f, uint32_t node) {
    struct state a = state_of(f, node);
    const struct rp_astar_state *s = &a.s;
    for (uint32_t j = 0; j <= s->n_first && j < f->q->n_ops; j++)
        try_run(f, &a, node, j);
    uint64_t wanted = f->q->wanted[s->n_first];
    uint64_t copies =
        (s->copyable & (wanted | f->q->must_copy_out)) | (s->host & ~s->device & wanted);
    while (copies != 0) {
        uint32_t x = rp_astar_take(&copies);
        if (rp_astar_has(s->copyable, x))
            swap_out(f, &a, (struct rp_astar_step){node, RP_SWAP_OUT, x, 0, 0});
        else
            try_swap_in(f, &a, node, x);
    }
}
