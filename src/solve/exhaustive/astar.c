#include "solve/exhaustive/astar.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/heap.h"
#include "solve/core/schedule.h"
#include "solve/exhaustive/astar_problem.h"
#include "solve/exhaustive/astar_states.h"

enum {
    /* More work than this for each state is not worth it. */
    MAX_WORK_PER_STATE = 1000,
    NS_PER_WORK = 16 /* about */
};
/* Of the limit: what the small tensors take together, at most. */
static const double SMALL_SHARE = 1.0 / 16;

struct search {
    const struct rp_instance *p;
    const struct rp_astar_options *o;
    struct rp_astar_problem q;
    struct rp_astar_states k;
    RP_VEC(uint32_t) open;   /* a heap of nodes */
    uint64_t work, max_work; /* states compared and sets tried */
    struct rp_astar_statistics statistics;
};

/* A state, while steps are tried from it. */
struct state {
    struct rp_astar_state s;
    struct rp_astar_ends ends;
};

void rp_astar_statistics_add(struct rp_astar_statistics *into,
                             const struct rp_astar_statistics *from) {
    into->states_added += from->states_added;
    into->expanded += from->expanded;
    into->dominated += from->dominated;
    into->pruned_by_bound += from->pruned_by_bound;
}

bool rp_astar_accepts(const struct rp_instance *p) {
    return p->n_tensors <= RP_ASTAR_MAX_TENSORS && p->n_ops <= RP_ASTAR_MAX_OPS;
}

static uint64_t bytes_of(const uint64_t *bytes, uint64_t set) {
    uint64_t sum = 0;
    while (set != 0)
        sum += bytes[rp_astar_take(&set)];
    return sum;
}

/* The smallest tensors, as long as they take SMALL_SHARE of the limit or less together. */
static uint64_t small_tensors(const struct rp_instance *p) {
    uint64_t set = 0, left = (uint64_t)(SMALL_SHARE * (double)p->limit_bytes);
    for (uint32_t n = 0; n < p->n_tensors; n++) {
        uint32_t least = RP_NONE;
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (!rp_astar_has(set, x) &&
                (least == RP_NONE || p->bytes[x] < p->bytes[least]))
                least = x;
        if (p->bytes[least] > left)
            break;
        left -= p->bytes[least];
        set |= rp_astar_bit(least);
    }
    return set;
}

/* ---- the open nodes ---- */

/* The smallest min_ns first, then the most first runs; of two equal nodes, the newer
 * one. */
static bool before(const void *context, const void *left, const void *right) {
    const struct search *f = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct rp_astar_node *m = &f->k.node[a], *n = &f->k.node[b];
    if (m->min_ns != n->min_ns)
        return m->min_ns < n->min_ns;
    if (m->s.n_first != n->s.n_first)
        return m->s.n_first > n->s.n_first;
    return a > b;
}

static void push_open(struct search *f, uint32_t node) {
    rp_push(&f->open, node);
    rp_heap_push(f->open.at, f->open.n, sizeof node, before, f);
}

static uint32_t pop_open(struct search *f) {
    rp_heap_pop(f->open.at, f->open.n, sizeof *f->open.at, before, f);
    return f->open.at[--f->open.n];
}

/* Counts comparisons of two states, or sets of frees. True if the search is to end.
 * Children of the present node may be missing then. */
static bool spend(struct search *f, uint64_t work) {
    f->work += work;
    return f->work > f->max_work || rp_stop_after(f->o->stop, NS_PER_WORK * work);
}

/* Adds a state that the step `by` leads to, unless it is too slow or dominated. */
static void add_state(struct search *f, const struct state *s, struct rp_astar_step by) {
    uint64_t min_ns = rp_astar_min_time(&f->q, &s->s, &s->ends), compared = f->k.compared;
    if (min_ns >= f->o->below_ns) {
        f->statistics.pruned_by_bound++;
        return;
    }
    if (f->k.n_nodes == f->k.max_nodes)
        return;
    if (rp_astar_states_add(&f->k, &s->s, &s->ends, min_ns, by))
        push_open(f, f->k.n_nodes - 1);
    else
        f->statistics.dominated++;
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

static void run(struct search *f, const struct state *from, struct rp_astar_step by) {
    struct state a = *from;
    struct rp_astar_state *s = &a.s;
    uint32_t j = by.id;
    if (!free_set(&a, by.freed))
        return;
    uint64_t made = f->q.out[j] & ~s->device;
    await(&a, f->q.in[j]);
    if (any_under_way(&a, f->q.out[j] & s->device))
        return;
    s->clock_ns += f->p->time_ns[j];
    s->device |= f->q.out[j];
    if (j == s->n_first) {
        s->n_first++;
        s->moment_ns = s->clock_ns;
    }
    by.dropped = rp_astar_unwanted(&f->q, s, &a.ends);
    s->device &= ~by.dropped;
    s->copyable = f->p->out_ns != NULL ? made & s->device & ~s->host & ~f->q.small : 0;
    add_state(f, &a, by);
}

static void swap_in(struct search *f, const struct state *from, struct rp_astar_step by) {
    struct state a = *from;
    struct rp_astar_state *s = &a.s;
    uint32_t x = by.id;
    if (!free_set(&a, by.freed))
        return;
    s->device |= rp_astar_bit(x);
    s->h2d_ns = rp_max_u64(rp_max_u64(s->clock_ns, s->h2d_ns), a.ends.host_ready_ns[x]) +
                f->p->in_ns[x];
    a.ends.ready_ns[x] = s->h2d_ns;
    s->copyable = 0;
    add_state(f, &a, by);
}

static void swap_out(struct search *f, const struct state *from, struct rp_astar_step by) {
    struct state a = *from;
    struct rp_astar_state *s = &a.s;
    uint32_t x = by.id;
    s->host |= rp_astar_bit(x);
    if (bytes_of(f->p->bytes, s->host) > f->p->host_limit_bytes)
        return;
    s->d2h_ns = rp_max_u64(rp_max_u64(s->clock_ns, s->d2h_ns), a.ends.ready_ns[x]) +
                f->p->out_ns[x];
    a.ends.host_ready_ns[x] = s->d2h_ns;
    s->copyable = s->device & ~s->host & ~f->q.small;
    add_state(f, &a, by);
}

/* Takes the step `by` after every minimal set of frees that yields `need` bytes. A set is
 * by.freed and some of `may`. It is minimal if without any one of its tensors there would
 * be too little. */
static void free_and_take(struct search *f, const struct state *a, struct rp_astar_step by,
                          uint64_t need, uint64_t may) {
    const uint64_t *bytes = f->q.bytes;
    uint64_t got = bytes_of(bytes, by.freed);
    if (got >= need) {
        for (uint64_t freed = by.freed; freed != 0;)
            if (got - bytes[rp_astar_take(&freed)] >= need)
                return;
        (by.kind == RP_RUN ? run : swap_in)(f, a, by);
        return;
    }
    while (got + bytes_of(bytes, may) >= need && !spend(f, 1)) {
        struct rp_astar_step more = by;
        uint32_t x = rp_astar_take(&may);
        more.freed |= rp_astar_bit(x);
        if (bytes[x] > 0)
            free_and_take(f, a, more, need, may);
    }
}

/* What op j's run needs on the device beside `device`, in these bytes. What cannot be
 * rewritten takes its bytes twice. */
static uint64_t bytes_to_run(const struct search *f, const uint64_t *bytes, uint64_t device,
                             uint32_t j) {
    return bytes_of(bytes, device | f->q.out[j]) + f->p->workspace_bytes[j] +
           bytes_of(bytes, device & f->q.out[j] & f->q.shadows);
}

static uint64_t excess(const struct search *f, uint64_t bytes) {
    return bytes > f->p->limit_bytes ? bytes - f->p->limit_bytes : 0;
}

static void try_run(struct search *f, const struct state *a, uint32_t node, uint32_t j) {
    const struct rp_astar_problem *q = &f->q;
    uint64_t device = a->s.device;
    bool again = j < a->s.n_first;
    if ((q->in[j] & ~device) != 0 || (again && ((q->out[j] & ~device) == 0 ||
                                                !rp_astar_has(q->useful[a->s.n_first], j))))
        return;
    /* What cannot be rewritten may be freed to be made again: that saves the workspace. */
    free_and_take(f, a, (struct rp_astar_step){node, RP_RUN, j, 0, 0},
                  excess(f, bytes_to_run(f, q->bytes, device, j)),
                  device & ~q->in[j] & ~(q->out[j] & ~q->shadows) & ~q->pinned);
}

static void try_swap_in(struct search *f, const struct state *a, uint32_t node,
                        uint32_t x) {
    uint64_t with = a->s.device | rp_astar_bit(x);
    free_and_take(f, a, (struct rp_astar_step){node, RP_SWAP_IN, x, 0, 0},
                  excess(f, bytes_of(f->q.bytes, with)), a->s.device & ~f->q.pinned);
}

/* Tries every step from a state. */
static void expand(struct search *f, uint32_t node) {
    struct state a;
    const struct rp_astar_state *s = &a.s;
    a.s = f->k.node[node].s;
    rp_astar_states_ends(&f->k, node, &a.ends);
    for (uint32_t j = 0; j <= s->n_first && j < f->p->n_ops; j++)
        try_run(f, &a, node, j);
    uint64_t copies = s->copyable | (s->host & ~s->device);
    for (copies &= f->q.wanted[s->n_first]; copies != 0;) {
        uint32_t x = rp_astar_take(&copies);
        if (rp_astar_has(s->copyable, x))
            swap_out(f, &a, (struct rp_astar_step){node, RP_SWAP_OUT, x, 0, 0});
        else
            try_swap_in(f, &a, node, x);
    }
}

/* ---- the plan ---- */

static void push_frees(const struct rp_instance *p, struct rp_plan *plan, uint64_t set) {
    while (set != 0)
        rp_append_step(p, plan, RP_FREE, rp_astar_take(&set));
}

static void write_steps(const struct search *f, uint32_t node, struct rp_plan *plan) {
    uint32_t n = 0, *path = rp_calloc(f->k.n_nodes, sizeof *path);
    for (; f->k.node[node].by.parent != RP_NONE; node = f->k.node[node].by.parent)
        path[n++] = node;
    while (n-- > 0) {
        const struct rp_astar_step *by = &f->k.node[path[n]].by;
        push_frees(f->p, plan, by->freed);
        rp_append_step(f->p, plan, by->kind, by->id);
        push_frees(f->p, plan, by->dropped);
    }
    free(path);
}

static bool is_end(const struct search *f, const struct rp_astar_state *s) {
    return s->n_first == f->p->n_ops && (f->q.in[s->n_first] & ~s->device) == 0;
}

/* Does the plan that leads to a node fit if small tensors take memory too? */
static bool fits(const struct search *f, uint32_t node) {
    const uint64_t *bytes = f->p->bytes;
    for (; f->k.node[node].by.parent != RP_NONE; node = f->k.node[node].by.parent) {
        const struct rp_astar_step *by = &f->k.node[node].by;
        uint64_t device = f->k.node[by->parent].s.device & ~by->freed;
        if ((by->kind == RP_RUN && excess(f, bytes_to_run(f, bytes, device, by->id)) > 0) ||
            (by->kind == RP_SWAP_IN &&
             excess(f, bytes_of(bytes, device | rp_astar_bit(by->id))) > 0))
            return false;
    }
    return true;
}

/* ---- the search ---- */

/* Returns the node of the fastest plan, RP_NONE if it was not found. A state may have a
 * lower min_ns than the one that it follows, but the bounds of both hold. */
static uint32_t search(struct search *f, struct rp_astar_result *result) {
    while (f->open.n > 0) {
        uint32_t node = pop_open(f);
        result->bound_ns = rp_max_u64(result->bound_ns, f->k.node[node].min_ns);
        if (f->k.node[node].dominated) {
            f->statistics.dominated++;
            continue;
        }
        if (is_end(f, &f->k.node[node].s))
            return node;
        if (rp_stop_after(f->o->stop, 0))
            return RP_NONE;
        expand(f, node);
        f->statistics.expanded++;
        if (f->k.n_nodes == f->k.max_nodes || spend(f, 1)) /* a child may be missing */
            return RP_NONE;
    }
    result->bound_ns = f->o->below_ns;
    return RP_NONE;
}

/* Searches with these small tensors. False if what it found does not fit. */
static bool attempt(const struct rp_instance *p, const struct rp_astar_options *o,
                    uint64_t small, struct rp_astar_result *r, struct rp_plan *plan) {
    struct search *f = rp_calloc(1, sizeof *f);
    *f = (struct search){
        .p = p, .o = o, .max_work = (uint64_t)MAX_WORK_PER_STATE * o->max_states};
    rp_astar_problem_init(&f->q, p, o->rest_ns, small);
    rp_astar_states_init(&f->k, o->max_states,
                         bytes_of(p->bytes, f->q.made[p->n_ops]) <= p->host_limit_bytes);
    add_state(f, &(struct state){0}, (struct rp_astar_step){.parent = RP_NONE});
    rp_stop_now(o->stop);
    uint32_t node = search(f, r);
    bool sound = node == RP_NONE || fits(f, node);
    r->found = node != RP_NONE && sound;
    if (r->found)
        write_steps(f, node, plan);
    f->statistics.states_added = f->k.n_nodes;
    rp_astar_statistics_add(&r->statistics, &f->statistics);
    rp_astar_states_fini(&f->k);
    free(f->open.at);
    free(f);
    return sound;
}

void rp_astar_search(const struct rp_instance *p, const struct rp_astar_options *o,
                     struct rp_astar_result *result, struct rp_plan *plan) {
    struct rp_astar_options rest = *o;
    assert(rp_astar_accepts(p) && o->max_states > 0);
    *result = (struct rp_astar_result){0};
    if (attempt(p, o, small_tensors(p), result, plan))
        return;
    rest.max_states -= (uint32_t)result->statistics.states_added;
    if (rest.max_states > 0)
        attempt(p, &rest, 0, result, plan);
}
