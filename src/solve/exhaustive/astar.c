#include "solve/exhaustive/astar.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MOST = RP_ASTAR_MAX_TENSORS };

/* Where a program stands. Times are from the start; those before the clock are past. */
struct stand {
    uint64_t clock_ns, d2h_ns, h2d_ns; /* the compute queue's, and when the others end */
    uint64_t ready_ns[MOST];           /* of what is on the device */
    uint64_t host_ready_ns[MOST];      /* of what has a host copy */
    uint32_t device, host;             /* sets of tensors */
    uint32_t fresh;                    /* copies out may begin now, of these */
    uint32_t n_first;                  /* ops 0 .. n_first - 1 have run */
};

/* What led from one node to another. */
struct step {
    uint32_t parent; /* node; RP_NONE: the begin */
    enum rp_step_kind kind;
    uint32_t id;
    uint32_t freed, dropped; /* before it, after it: sets of tensors */
};

struct node {
    struct stand s;
    uint64_t min_ns; /* of any program that goes on from here */
    uint32_t next;   /* of the same hash; RP_NONE: none */
    struct step by;
    bool dominated;
};

struct search {
    const struct rp_instance *p;
    uint64_t below_ns;
    uint32_t most, n_nodes, n_table;
    struct node *nodes;
    uint32_t *table; /* per hash: the newest node; a power of two of them */
    uint32_t in[RP_ASTAR_MAX_OPS], out[RP_ASTAR_MAX_OPS];
    uint32_t r_last[RP_ASTAR_MAX_OPS]; /* op: a run again is of use up to this n_first */
    uint32_t s_last[MOST];             /* tensor: wanted at most up to this n_first */
    uint64_t to_come_ns[RP_ASTAR_MAX_OPS + 1]; /* per n_first: first runs left */
    uint32_t wanted[RP_ASTAR_MAX_OPS + 1]; /* per n_first: by first runs left, or kept */
    struct {
        uint32_t *at;
        size_t n, cap;
    } open; /* a heap of nodes */
};

bool rp_astar_accepts(const struct rp_instance *p) {
    return p->n_tensors <= MOST && p->n_ops <= RP_ASTAR_MAX_OPS;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b; /* mutation: same */
}

/* Takes the first tensor out of a set that is not empty. */
static uint32_t take(uint32_t *set) {
    uint32_t x = (uint32_t)__builtin_ctz(*set);
    *set &= *set - 1;
    return x;
}

static uint64_t weigh(const struct rp_instance *p, uint32_t set) {
    uint64_t sum = 0;
    while (set != 0)
        sum += p->bytes[take(&set)];
    return sum;
}

static uint32_t last_of(uint32_t a, uint32_t b) {
    return a > b ? a : b; /* mutation: same */
}

/* Readers come after makers: from late to early, theirs are known. */
static void find_last_uses(struct search *f) {
    const struct rp_instance *p = f->p;
    for (uint32_t j = p->n_ops; j-- > 0;) {
        f->r_last[j] = j;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
            f->s_last[x] = p->kept[x] ? p->n_ops : j;
            for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
                f->s_last[x] = last_of(f->s_last[x], f->r_last[p->readers[k]]);
            if (p->recompute[j])
                f->r_last[j] = last_of(f->r_last[j], f->s_last[x]);
        }
    }
}

static void read_problem(struct search *f) {
    const struct rp_instance *p = f->p;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            f->in[j] |= 1u << p->inputs[k];
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            f->out[j] |= 1u << x;
    }
    for (uint32_t n = p->n_ops; n-- > 0;)
        f->to_come_ns[n] = f->to_come_ns[n + 1] + p->time_ns[n];
    for (uint32_t n = 0; n <= p->n_ops; n++)
        for (uint32_t x = 0; x < p->n_tensors; x++)
            f->wanted[n] |= rp_instance_last_need(p, x) >= n ? 1u << x : 0;
    find_last_uses(f);
}

/* The least time of a program that goes on from s; UINT64_MAX if there is none. */
static uint64_t min_time(const struct search *f, const struct stand *s) {
    const struct rp_instance *p = f->p;
    uint32_t wanted = f->wanted[s->n_first], there = s->device | s->host;
    uint64_t ns = s->clock_ns + f->to_come_ns[s->n_first];
    for (uint32_t j = s->n_first; j-- > 0;) {
        if ((f->out[j] & wanted & ~there) == 0)
            continue;
        if (!p->recompute[j])
            return UINT64_MAX;
        ns += p->time_ns[j];
        wanted |= f->in[j];
    }
    return later(ns, later(s->d2h_ns, s->h2d_ns));
}

/* ---- the open nodes ---- */

static bool before(const struct search *f, uint32_t a, uint32_t b) {
    const struct node *m = &f->nodes[a], *n = &f->nodes[b];
    if (m->min_ns != n->min_ns)
        return m->min_ns < n->min_ns; /* mutation: same */
    if (m->s.n_first != n->s.n_first)
        return m->s.n_first > n->s.n_first; /* mutation: same */
    return a > b;                           /* mutation: same */
}

static void push_open(struct search *f, uint32_t node) {
    rp_push(&f->open, node);
    uint32_t *at = f->open.at;
    size_t i = f->open.n - 1;
    for (; i > 0 && before(f, node, at[(i - 1) / 2]); i = (i - 1) / 2)
        at[i] = at[(i - 1) / 2];
    at[i] = node;
}

static uint32_t pop_open(struct search *f) {
    uint32_t *at = f->open.at, first = at[0], last = at[--f->open.n];
    size_t i = 0;
    for (size_t c = 1; c < f->open.n; c = 2 * i + 1) { /* mutation: same */
        c += c + 1 < f->open.n && before(f, at[c + 1], at[c]);
        if (!before(f, at[c], last))
            break;
        at[i] = at[c];
        i = c;
    }
    at[i] = last;
    return first;
}

/* ---- the states known ---- */

static bool any_later(const uint64_t *a_ns, const uint64_t *b_ns, uint32_t set,
                      uint64_t clock_ns) {
    while (set != 0) {
        uint32_t x = take(&set);
        if (a_ns[x] > later(b_ns[x], clock_ns))
            return true;
    }
    return false;
}

static bool not_later(const struct stand *a, const struct stand *b) {
    uint64_t clock = b->clock_ns;
    return a->clock_ns <= clock && (b->fresh & ~a->fresh) == 0 &&
           a->d2h_ns <= later(b->d2h_ns, clock) && a->h2d_ns <= later(b->h2d_ns, clock) &&
           !any_later(a->ready_ns, b->ready_ns, a->device, clock) &&
           !any_later(a->host_ready_ns, b->host_ready_ns, a->host, clock);
}

static bool same_place(const struct stand *a, const struct stand *b) {
    return a->device == b->device && a->host == b->host && a->n_first == b->n_first;
}

/* Fibonacci hashing: Knuth, volume 3, 6.4. */
static uint32_t hash(const struct search *f, const struct stand *s) {
    uint64_t h = ((uint64_t)s->device << 32 | s->host) * 11400714819323198485u;
    h = (h ^ h >> 29 ^ s->n_first) * 11400714819323198485u; /* mutation: same */
    return (uint32_t)(h >> 32) & (f->n_table - 1);
}

static void reach(struct search *f, const struct stand *s, struct step by) {
    uint64_t min_ns = min_time(f, s);
    if (min_ns >= f->below_ns || f->n_nodes == f->most)
        return;
    uint32_t *head = &f->table[hash(f, s)];
    for (uint32_t i = *head; i != RP_NONE; i = f->nodes[i].next) {
        struct node *known = &f->nodes[i];
        if (!same_place(&known->s, s))
            continue;
        if (not_later(&known->s, s))
            return;
        if (not_later(s, &known->s))
            known->dominated = true;
    }
    f->nodes[f->n_nodes] = (struct node){*s, min_ns, *head, by, false};
    *head = f->n_nodes++;
    push_open(f, *head);
}

/* ---- steps ---- */

/* The stand after freeing a set. False: a swap-in is under way. */
static bool free_set(struct stand *s, uint32_t set) {
    s->device &= ~set;
    while (set != 0) {
        uint32_t x = take(&set);
        if (s->host >> x & 1)
            s->clock_ns = later(s->clock_ns, s->host_ready_ns[x]);
        if (s->ready_ns[x] > s->clock_ns)
            return false;
    }
    return true;
}

/* Frees what nothing can want any more, unless a copy of it is under way. */
static uint32_t drop(const struct search *f, struct stand *s) {
    uint32_t set = 0;
    for (uint32_t left = s->device; left != 0;) {
        uint32_t x = take(&left);
        if (f->s_last[x] < s->n_first && s->ready_ns[x] <= s->clock_ns &&
            (!(s->host >> x & 1) || s->host_ready_ns[x] <= s->clock_ns))
            set |= 1u << x;
    }
    s->device &= ~set;
    s->fresh &= ~set;
    return set;
}

static void run(struct search *f, const struct stand *from, struct step by) {
    const struct rp_instance *p = f->p;
    struct stand s = *from;
    uint32_t j = by.id, made = f->out[j] & ~from->device;
    if (!free_set(&s, by.freed))
        return;
    for (uint32_t in = f->in[j]; in != 0;)
        s.clock_ns = later(s.clock_ns, s.ready_ns[take(&in)]);
    for (uint32_t there = f->out[j] & from->device; there != 0;)
        if (s.ready_ns[take(&there)] > s.clock_ns)
            return; /* its swap-in is under way */
    s.clock_ns += p->time_ns[j];
    s.device |= f->out[j];
    s.n_first += j == s.n_first;
    s.fresh = p->out_ns != NULL ? made & ~s.host : 0;
    by.dropped = drop(f, &s);
    reach(f, &s, by);
}

static void swap_in(struct search *f, const struct stand *from, struct step by) {
    struct stand s = *from;
    uint32_t x = by.id;
    if (!free_set(&s, by.freed))
        return;
    s.device |= 1u << x;
    s.h2d_ns = later(later(s.clock_ns, s.h2d_ns), s.host_ready_ns[x]) + f->p->in_ns[x];
    s.ready_ns[x] = s.h2d_ns;
    s.fresh = 0;
    reach(f, &s, by);
}

static void swap_out(struct search *f, const struct stand *from, struct step by) {
    struct stand s = *from;
    uint32_t x = by.id;
    s.host |= 1u << x;
    if (weigh(f->p, s.host) > f->p->host_limit_bytes)
        return;
    s.d2h_ns = later(later(s.clock_ns, s.d2h_ns), s.ready_ns[x]) + f->p->out_ns[x];
    s.host_ready_ns[x] = s.d2h_ns;
    s.fresh = s.device & ~s.host;
    reach(f, &s, by);
}

/* Takes the step after each least set of frees that gives it `need` bytes: by.freed, and
 * some of `may`, of which none could stay. */
static void make_room(struct search *f, const struct stand *s, struct step by,
                      uint64_t need, uint32_t may) {
    const uint64_t *bytes = f->p->bytes;
    uint64_t got = weigh(f->p, by.freed);
    if (got >= need) {
        for (uint32_t freed = by.freed; freed != 0;)
            if (got - bytes[take(&freed)] >= need)
                return;
        (by.kind == RP_RUN ? run : swap_in)(f, s, by);
        return;
    }
    while (got + weigh(f->p, may) >= need) {
        struct step more = by;
        uint32_t x = take(&may);
        more.freed |= 1u << x;
        if (bytes[x] > 0) /* mutation: same */
            make_room(f, s, more, need, may);
    }
}

static void try_run(struct search *f, const struct stand *s, uint32_t node, uint32_t j) {
    const struct rp_instance *p = f->p;
    bool again = j < s->n_first;
    uint32_t with = s->device | f->out[j];
    if ((f->in[j] & ~s->device) != 0 ||
        (again && (!p->recompute[j] || with == s->device || s->n_first > f->r_last[j])))
        return;
    uint64_t takes = weigh(p, with) + p->workspace_bytes[j];
    make_room(f, s, (struct step){node, RP_RUN, j, 0, 0},
              takes > p->limit_bytes ? takes - p->limit_bytes : 0,
              s->device & ~f->in[j] & ~f->out[j]);
}

static void try_swap_in(struct search *f, const struct stand *s, uint32_t node,
                        uint32_t x) {
    uint64_t takes = weigh(f->p, s->device | 1u << x);
    make_room(f, s, (struct step){node, RP_SWAP_IN, x, 0, 0},
              takes > f->p->limit_bytes ? takes - f->p->limit_bytes : 0, s->device);
}

static void go_on(struct search *f, uint32_t node) {
    const struct rp_instance *p = f->p;
    struct stand s = f->nodes[node].s;
    for (uint32_t j = 0; j <= s.n_first && j < p->n_ops; j++)
        try_run(f, &s, node, j);
    for (uint32_t copied = s.fresh | (s.host & ~s.device); copied != 0;) {
        uint32_t x = take(&copied);
        if (f->s_last[x] < s.n_first)
            continue; /* nothing can want it any more */
        if (s.fresh >> x & 1)
            swap_out(f, &s, (struct step){node, RP_SWAP_OUT, x, 0, 0});
        else
            try_swap_in(f, &s, node, x);
    }
}

static void push_step(const struct rp_instance *p, struct rp_plan *plan,
                      enum rp_step_kind kind, uint32_t i) {
    struct rp_step step = {.kind = kind,
                           .id = kind == RP_RUN ? p->op_of[i] : p->tensor_of[i],
                           .address = RP_NO_ADDRESS};
    rp_push(&plan->steps, step);
}

static void push_frees(const struct rp_instance *p, struct rp_plan *plan, uint32_t set) {
    while (set != 0)
        push_step(p, plan, RP_FREE, take(&set));
}

static void write_steps(const struct search *f, uint32_t node, struct rp_plan *plan) {
    uint32_t n = 0, *path = rp_calloc(f->n_nodes, sizeof *path);
    for (; f->nodes[node].by.parent != RP_NONE; node = f->nodes[node].by.parent)
        path[n++] = node;
    while (n-- > 0) {
        const struct step *by = &f->nodes[path[n]].by;
        push_frees(f->p, plan, by->freed);
        push_step(f->p, plan, by->kind, by->id);
        push_frees(f->p, plan, by->dropped);
    }
    free(path);
}

static bool is_end(const struct search *f, const struct stand *s) {
    return s->n_first == f->p->n_ops && (f->wanted[s->n_first] & ~s->device) == 0;
}

/* The node of the fastest program; RP_NONE if it was not found. */
static uint32_t search(struct search *f, const volatile sig_atomic_t *stop,
                       struct rp_astar *result) {
    while (f->open.n > 0) {
        uint32_t node = pop_open(f);
        result->bound_ns = f->nodes[node].min_ns;
        if (f->nodes[node].dominated)
            continue;
        if (is_end(f, &f->nodes[node].s))
            return node;
        if (stop != NULL && *stop)
            return RP_NONE;
        go_on(f, node);
        if (f->n_nodes == f->most) /* a child of this one may be missing */
            return RP_NONE;
    }
    result->bound_ns = f->below_ns;
    return RP_NONE;
}

void rp_astar_search(const struct rp_instance *p, uint64_t below_ns, uint32_t max_states,
                     const volatile sig_atomic_t *stop, struct rp_astar *result,
                     struct rp_plan *plan) {
    struct search *f = rp_calloc(1, sizeof *f);
    assert(rp_astar_accepts(p) && max_states > 0);
    *f = (struct search){.p = p, .below_ns = below_ns, .most = max_states, .n_table = 64};
    while (f->n_table < max_states) /* mutation: same */
        f->n_table *= 2;
    f->nodes = rp_calloc(max_states, sizeof *f->nodes);
    f->table = rp_calloc(f->n_table, sizeof *f->table);
    memset(f->table, 0xff, f->n_table * sizeof *f->table); /* RP_NONE */
    read_problem(f);
    reach(f, &(struct stand){0}, (struct step){.parent = RP_NONE});
    uint32_t node = search(f, stop, result);
    result->n_states = f->n_nodes;
    result->found = node != RP_NONE;
    if (result->found)
        write_steps(f, node, plan);
    free(f->nodes);
    free(f->table);
    free(f->open.at);
    free(f);
}
