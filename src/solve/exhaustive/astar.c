#include "solve/exhaustive/astar.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "solve/core/heap.h"
#include "solve/core/schedule.h"

enum {
    MAX_TENSORS = RP_ASTAR_MAX_TENSORS,
    MAX_OPS = RP_ASTAR_MAX_OPS,
    /* More work than this for each state is not worth it. */
    MAX_WORK_PER_STATE = 1000,
    NS_PER_WORK = 16 /* about */
};

/* A plan between two steps. Times count from the start of the plan. Copies that ended
 * before the clock have no effect any more. */
struct state {
    uint64_t clock_ns;                   /* the end of the compute queue */
    uint64_t d2h_ns, h2d_ns;             /* the ends of the copy queues */
    uint64_t ready_ns[MAX_TENSORS];      /* of those on the device */
    uint64_t host_ready_ns[MAX_TENSORS]; /* of those with a host copy */
    uint32_t device, host;               /* sets of tensors */
    uint32_t copyable;                   /* set of tensors: copies out may begin now */
    uint32_t n_first;                    /* ops 0 .. n_first - 1 have run */
};

/* What led from one node to the next. */
struct step {
    uint32_t parent; /* node; RP_NONE: this is the first one */
    enum rp_step_kind kind;
    uint32_t id;
    uint32_t freed, dropped; /* sets of tensors: freed before the step, and after it */
};

struct node {
    struct state s;
    uint64_t min_ns; /* of any plan that continues from here */
    uint32_t next;   /* node with the same hash, not dominated; RP_NONE: none */
    struct step by;
    bool dominated;
};

struct search {
    const struct rp_instance *p;
    uint64_t below_ns;
    uint32_t max_nodes, n_nodes, n_table;
    struct node *nodes;
    uint32_t *table;                    /* per hash: the newest node */
    uint32_t in[MAX_OPS], out[MAX_OPS]; /* per op: sets of tensors */
    uint32_t pinned, shadows;     /* sets of tensors: never freed; not rewritten in place */
    uint32_t r_last[MAX_OPS];     /* op: running again is useful up to this n_first */
    uint32_t s_last[MAX_TENSORS]; /* tensor: wanted at most up to this n_first */
    uint64_t remaining_ns[MAX_OPS + 1]; /* per n_first: the first runs that are left */
    uint32_t wanted[MAX_OPS + 1];       /* per n_first: read by those, or kept */
    RP_VEC(uint32_t) open;              /* a heap of nodes */
    uint64_t work, max_work;            /* states compared and sets tried */
    struct rp_stop *stop;
    struct rp_astar_statistics statistics;
};

void rp_astar_statistics_add(struct rp_astar_statistics *into,
                             const struct rp_astar_statistics *from) {
    into->states_added += from->states_added;
    into->expanded += from->expanded;
    into->dominated += from->dominated;
    into->pruned_by_bound += from->pruned_by_bound;
}

bool rp_astar_accepts(const struct rp_instance *p) {
    return p->n_tensors <= MAX_TENSORS && p->n_ops <= MAX_OPS;
}

/* Removes the first tensor from a set that is not empty, and returns it. */
static uint32_t take(uint32_t *set) {
    uint32_t x = (uint32_t)__builtin_ctz(*set);
    *set &= *set - 1;
    return x;
}

static uint64_t bytes_of(const struct rp_instance *p, uint32_t set) {
    uint64_t sum = 0;
    while (set != 0)
        sum += p->bytes[take(&set)];
    return sum;
}

static void prepare(struct search *f) {
    const struct rp_instance *p = f->p;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            f->in[j] |= 1u << p->inputs[k];
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            f->out[j] |= 1u << x;
    }
    for (uint32_t n = p->n_ops; n-- > 0;)
        f->remaining_ns[n] = f->remaining_ns[n + 1] + p->time_ns[n];
    for (uint32_t n = 0; n <= p->n_ops; n++)
        for (uint32_t x = 0; x < p->n_tensors; x++)
            f->wanted[n] |= rp_instance_last_need(p, x) >= n ? 1u << x : 0;
    rp_instance_last_uses(p, f->r_last, f->s_last);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        f->pinned |= p->pinned[x] ? 1u << x : 0;
        f->shadows |= p->shadow_bytes[x] > 0 ? 1u << x : 0;
    }
}

/* A lower bound of the time of a plan that continues from s; UINT64_MAX if none can. */
static uint64_t min_time(const struct search *f, const struct state *s) {
    const struct rp_instance *p = f->p;
    uint32_t wanted = f->wanted[s->n_first], available = s->device | s->host;
    uint64_t ns = s->clock_ns + f->remaining_ns[s->n_first];
    for (uint32_t j = s->n_first; j-- > 0;) {
        if ((f->out[j] & wanted & ~available) == 0)
            continue;
        if (s->n_first > p->last_stage[j])
            return UINT64_MAX;
        ns += p->time_ns[j];
        wanted |= f->in[j];
    }
    return rp_max_u64(ns, rp_max_u64(s->d2h_ns, s->h2d_ns));
}

/* ---- the open nodes ---- */

/* The smallest min_ns first, then the most first runs; of two equal nodes, the newer
 * one. */
static bool before(const void *context, const void *left, const void *right) {
    const struct search *f = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct node *m = &f->nodes[a], *n = &f->nodes[b];
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

/* ---- known states ---- */

static bool any_later(const uint64_t *a_ns, const uint64_t *b_ns, uint32_t set,
                      uint64_t clock_ns) {
    while (set != 0) {
        uint32_t x = take(&set);
        if (a_ns[x] > rp_max_u64(b_ns[x], clock_ns))
            return true;
    }
    return false;
}

/* Is state a nowhere later than state b, which has the same key? */
static bool dominates(const struct state *a, const struct state *b) {
    uint64_t clock = b->clock_ns;
    return a->clock_ns <= clock && (b->copyable & ~a->copyable) == 0 &&
           a->d2h_ns <= rp_max_u64(b->d2h_ns, clock) &&
           a->h2d_ns <= rp_max_u64(b->h2d_ns, clock) &&
           !any_later(a->ready_ns, b->ready_ns, a->device, clock) &&
           !any_later(a->host_ready_ns, b->host_ready_ns, a->host, clock);
}

static bool same_key(const struct state *a, const struct state *b) {
    return a->device == b->device && a->host == b->host && a->n_first == b->n_first;
}

/* Fibonacci hashing (Knuth, volume 3, section 6.4) into a table of a power of two. */
static uint32_t hash(const struct search *f, const struct state *s) {
    uint64_t h = ((uint64_t)s->device << 32 | s->host) * RP_GOLDEN_RATIO_64;
    h = (h ^ h >> 29 ^ s->n_first) * RP_GOLDEN_RATIO_64;
    return (uint32_t)(h >> 32) & (f->n_table - 1);
}

/* Counts one comparison of two states or one set of frees. True if the search is to end.
 * Children of the present node may be missing then. */
static bool spend(struct search *f) {
    f->work++;
    return f->work > f->max_work || rp_stop_after(f->stop, NS_PER_WORK);
}

/* Does a known state dominate s? Takes those that s dominates out of the chain. What they
 * dominate, s dominates too. */
static bool is_dominated(struct search *f, const struct state *s, uint32_t *head) {
    for (uint32_t *link = head; *link != RP_NONE && !spend(f);) {
        struct node *known = &f->nodes[*link];
        bool same = same_key(&known->s, s);
        if (same && dominates(&known->s, s))
            return true;
        known->dominated = same && dominates(s, &known->s);
        if (known->dominated)
            *link = known->next;
        else
            link = &known->next;
    }
    return false;
}

/* Adds a state that the step `by` leads to, unless it is too slow or dominated. */
static void add_state(struct search *f, const struct state *s, struct step by) {
    uint64_t min_ns = min_time(f, s);
    if (min_ns >= f->below_ns) {
        f->statistics.pruned_by_bound++;
        return;
    }
    if (f->n_nodes == f->max_nodes)
        return;
    uint32_t *head = &f->table[hash(f, s)];
    if (is_dominated(f, s, head)) {
        f->statistics.dominated++;
        return;
    }
    f->nodes[f->n_nodes] = (struct node){*s, min_ns, *head, by, false};
    *head = f->n_nodes++;
    push_open(f, *head);
}

/* ---- steps ---- */

/* Frees a set. False if a copy in of one of them is still under way. */
static bool free_set(struct state *s, uint32_t set) {
    s->device &= ~set;
    while (set != 0) {
        uint32_t x = take(&set);
        if (s->host >> x & 1)
            s->clock_ns = rp_max_u64(s->clock_ns, s->host_ready_ns[x]);
        if (s->ready_ns[x] > s->clock_ns)
            return false;
    }
    return true;
}

/* Frees what nothing can need any more, unless a copy of it is under way. Returns the set.
 */
static uint32_t drop_unwanted(const struct search *f, struct state *s) {
    uint32_t set = 0;
    for (uint32_t left = s->device; left != 0;) {
        uint32_t x = take(&left);
        if (f->s_last[x] < s->n_first && s->ready_ns[x] <= s->clock_ns &&
            (!(s->host >> x & 1) || s->host_ready_ns[x] <= s->clock_ns))
            set |= 1u << x;
    }
    s->device &= ~set;
    s->copyable &= ~set;
    return set;
}

static void run(struct search *f, const struct state *from, struct step by) {
    const struct rp_instance *p = f->p;
    struct state s = *from;
    uint32_t j = by.id;
    if (!free_set(&s, by.freed))
        return;
    uint32_t made = f->out[j] & ~s.device;
    for (uint32_t in = f->in[j]; in != 0;)
        s.clock_ns = rp_max_u64(s.clock_ns, s.ready_ns[take(&in)]);
    for (uint32_t present = f->out[j] & s.device; present != 0;)
        if (s.ready_ns[take(&present)] > s.clock_ns)
            return; /* its copy in is under way */
    s.clock_ns += p->time_ns[j];
    s.device |= f->out[j];
    s.n_first += j == s.n_first;
    s.copyable = p->out_ns != NULL ? made & ~s.host : 0;
    by.dropped = drop_unwanted(f, &s);
    add_state(f, &s, by);
}

static void swap_in(struct search *f, const struct state *from, struct step by) {
    struct state s = *from;
    uint32_t x = by.id;
    if (!free_set(&s, by.freed))
        return;
    s.device |= 1u << x;
    s.h2d_ns =
        rp_max_u64(rp_max_u64(s.clock_ns, s.h2d_ns), s.host_ready_ns[x]) + f->p->in_ns[x];
    s.ready_ns[x] = s.h2d_ns;
    s.copyable = 0;
    add_state(f, &s, by);
}

static void swap_out(struct search *f, const struct state *from, struct step by) {
    struct state s = *from;
    uint32_t x = by.id;
    s.host |= 1u << x;
    if (bytes_of(f->p, s.host) > f->p->host_limit_bytes)
        return;
    s.d2h_ns =
        rp_max_u64(rp_max_u64(s.clock_ns, s.d2h_ns), s.ready_ns[x]) + f->p->out_ns[x];
    s.host_ready_ns[x] = s.d2h_ns;
    s.copyable = s.device & ~s.host;
    add_state(f, &s, by);
}

/* Takes the step `by` after every minimal set of frees that yields `need` bytes. A set is
 * by.freed and some of `may`. It is minimal if without any one of its tensors there would
 * be too little. */
static void free_and_take(struct search *f, const struct state *s, struct step by,
                          uint64_t need, uint32_t may) {
    const uint64_t *bytes = f->p->bytes;
    uint64_t got = bytes_of(f->p, by.freed);
    if (got >= need) {
        for (uint32_t freed = by.freed; freed != 0;)
            if (got - bytes[take(&freed)] >= need)
                return;
        (by.kind == RP_RUN ? run : swap_in)(f, s, by);
        return;
    }
    while (got + bytes_of(f->p, may) >= need && !spend(f)) {
        struct step more = by;
        uint32_t x = take(&may);
        more.freed |= 1u << x;
        if (bytes[x] > 0)
            free_and_take(f, s, more, need, may);
    }
}

static void try_run(struct search *f, const struct state *s, uint32_t node, uint32_t j) {
    const struct rp_instance *p = f->p;
    bool again = j < s->n_first;
    uint32_t with = s->device | f->out[j], shadows = s->device & f->out[j] & f->shadows;
    if ((f->in[j] & ~s->device) != 0 ||
        (again && (with == s->device || s->n_first > f->r_last[j])))
        return;
    /* What cannot be rewritten may be freed to be made again: that saves the workspace. */
    uint64_t needed = bytes_of(p, with) + p->workspace_bytes[j] + bytes_of(p, shadows);
    free_and_take(f, s, (struct step){node, RP_RUN, j, 0, 0},
                  needed > p->limit_bytes ? needed - p->limit_bytes : 0,
                  s->device & ~f->in[j] & ~(f->out[j] & ~f->shadows) & ~f->pinned);
}

static void try_swap_in(struct search *f, const struct state *s, uint32_t node,
                        uint32_t x) {
    uint64_t needed = bytes_of(f->p, s->device | 1u << x);
    free_and_take(f, s, (struct step){node, RP_SWAP_IN, x, 0, 0},
                  needed > f->p->limit_bytes ? needed - f->p->limit_bytes : 0,
                  s->device & ~f->pinned);
}

/* Tries every step from a state. */
static void expand(struct search *f, uint32_t node) {
    const struct rp_instance *p = f->p;
    struct state s = f->nodes[node].s;
    for (uint32_t j = 0; j <= s.n_first && j < p->n_ops; j++)
        try_run(f, &s, node, j);
    for (uint32_t left = s.copyable | (s.host & ~s.device); left != 0;) {
        uint32_t x = take(&left);
        if (f->s_last[x] < s.n_first)
            continue; /* nothing can want it any more */
        if (s.copyable >> x & 1)
            swap_out(f, &s, (struct step){node, RP_SWAP_OUT, x, 0, 0});
        else
            try_swap_in(f, &s, node, x);
    }
}

static void push_frees(const struct rp_instance *p, struct rp_plan *plan, uint32_t set) {
    while (set != 0)
        rp_append_step(p, plan, RP_FREE, take(&set));
}

static void write_steps(const struct search *f, uint32_t node, struct rp_plan *plan) {
    uint32_t n = 0, *path = rp_calloc(f->n_nodes, sizeof *path);
    for (; f->nodes[node].by.parent != RP_NONE; node = f->nodes[node].by.parent)
        path[n++] = node;
    while (n-- > 0) {
        const struct step *by = &f->nodes[path[n]].by;
        push_frees(f->p, plan, by->freed);
        rp_append_step(f->p, plan, by->kind, by->id);
        push_frees(f->p, plan, by->dropped);
    }
    free(path);
}

static bool is_end(const struct search *f, const struct state *s) {
    return s->n_first == f->p->n_ops && (f->wanted[s->n_first] & ~s->device) == 0;
}

/* Returns the node of the fastest plan, RP_NONE if it was not found. */
static uint32_t search(struct search *f, struct rp_astar_result *result) {
    while (f->open.n > 0) {
        uint32_t node = pop_open(f);
        result->bound_ns = f->nodes[node].min_ns;
        if (f->nodes[node].dominated) {
            f->statistics.dominated++;
            continue;
        }
        if (is_end(f, &f->nodes[node].s))
            return node;
        if (rp_stop_after(f->stop, 0))
            return RP_NONE;
        expand(f, node);
        f->statistics.expanded++;
        if (f->n_nodes == f->max_nodes || spend(f)) /* a child of this one may be missing */
            return RP_NONE;
    }
    result->bound_ns = f->below_ns;
    return RP_NONE;
}

void rp_astar_search(const struct rp_instance *p, uint64_t below_ns, uint32_t max_states,
                     struct rp_stop *stop, struct rp_astar_result *result,
                     struct rp_plan *plan) {
    struct search *f = rp_calloc(1, sizeof *f);
    assert(rp_astar_accepts(p) && max_states > 0);
    *f = (struct search){.p = p,
                         .below_ns = below_ns,
                         .max_nodes = max_states,
                         .n_table = 64,
                         .max_work = (uint64_t)MAX_WORK_PER_STATE * max_states,
                         .stop = stop};
    while (f->n_table < max_states)
        f->n_table *= 2;
    f->nodes = rp_calloc(max_states, sizeof *f->nodes);
    f->table = rp_calloc(f->n_table, sizeof *f->table);
    memset(f->table, 0xff, f->n_table * sizeof *f->table); /* RP_NONE */
    prepare(f);
    add_state(f, &(struct state){0}, (struct step){.parent = RP_NONE});
    rp_stop_now(stop);
    uint32_t node = search(f, result);
    f->statistics.states_added = f->n_nodes;
    result->statistics = f->statistics;
    result->found = node != RP_NONE;
    if (result->found)
        write_steps(f, node, plan);
    free(f->nodes);
    free(f->table);
    free(f->open.at);
    free(f);
}
