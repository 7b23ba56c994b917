#include "brute_copies.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "brute.h"

enum { MAX_TENSORS = RP_BRUTE_COPIED };

/* The state between two steps. Times are relative to the compute clock, and 0 once they
 * have passed. */
struct key {
    uint32_t ran;                     /* the set of ops that have run */
    uint16_t device, host;            /* sets of tensors */
    uint32_t d2h, h2d;                /* until the queues are free */
    uint32_t ready[MAX_TENSORS];      /* until the tensor on the device is complete */
    uint32_t host_ready[MAX_TENSORS]; /* until the host copy is complete */
};

struct node {
    struct key key;
    uint64_t clock; /* the least clock at which the key was reached */
    bool done;
};

struct brute {
    const struct rp_graph *g;
    const struct rp_brute_copies *o;
    uint32_t n;                 /* tensors */
    uint32_t x_of[MAX_TENSORS]; /* their numbers in the graph */
    uint16_t in[32], out[32], updates[32], keep, pinned;
    uint16_t homes;       /* sources that live on the host */
    uint64_t limit_bytes; /* for all tensors above */
    uint32_t out_ns[MAX_TENSORS], in_ns[MAX_TENSORS];
    struct node *nodes;
    uint32_t n_nodes;
    uint32_t *table; /* open addressing: 1 + index, or 0 if empty */
    uint32_t table_size;
    struct {
        uint32_t *at; /* nodes by clock, including outdated entries */
        uint64_t *clock;
        uint32_t n, cap;
    } heap;
};

static uint32_t copy_ns(const struct rp_graph *g, uint64_t bytes, uint64_t rate) {
    uint64_t ns = (bytes * 1000000000u + rate - 1) / rate + g->device.copy_latency_ns;
    assert(ns < UINT32_MAX / 64);
    return (uint32_t)ns;
}

static uint16_t add_tensor(struct brute *b, uint32_t x) {
    const struct rp_graph *g = b->g;
    assert(b->n < MAX_TENSORS);
    b->x_of[b->n] = x;
    if (b->o->swap) {
        b->out_ns[b->n] = copy_ns(g, g->tensors[x].bytes, g->device.d2h_bytes_per_s);
        b->in_ns[b->n] = copy_ns(g, g->tensors[x].bytes, g->device.h2d_bytes_per_s);
    }
    return (uint16_t)(1u << b->n++);
}

static void add_homes(struct brute *b, uint64_t homes, uint16_t *bit) {
    b->limit_bytes = b->o->limit_bytes;
    for (uint32_t x = 0; x < b->g->n_tensors; x++) {
        if (!(homes >> x & 1))
            continue;
        bit[x] = add_tensor(b, x);
        b->homes |= bit[x];
        if (b->g->tensors[x].home == RP_HOME_ANY)
            b->limit_bytes += b->g->tensors[x].bytes;
    }
}

/* `homes`: the set of sources of the graph that live on the host. */
static void read_graph(struct brute *b, uint64_t homes) {
    const struct rp_graph *g = b->g;
    uint16_t bit[64] = {0};
    assert(g->n_ops < 32 && g->n_tensors <= 64);
    add_homes(b, homes, bit);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        for (uint32_t k = 0; k < op->n_updates; k++)
            b->updates[i] |= bit[op->updates[k]];
        b->in[i] |= b->updates[i];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            b->in[i] |= bit[op->inputs[k]];
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            uint32_t x = op->outputs[k];
            bit[x] = add_tensor(b, x);
            b->out[i] |= bit[x];
            b->pinned |= g->tensors[x].held ? bit[x] : 0;
        }
    }
    b->keep = b->pinned;
    for (uint32_t k = 0; k < g->n_keep; k++)
        b->keep |= bit[g->keep[k]];
}

static uint64_t bytes_of(const struct brute *b, uint16_t set) {
    uint64_t sum = 0;
    for (uint32_t x = 0; x < b->n; x++)
        sum += set >> x & 1 ? b->g->tensors[b->x_of[x]].bytes : 0;
    return sum;
}

/* ---- the set of keys, and the queue ---- */

static void push(struct brute *b, uint32_t node, uint64_t clock) {
    if (b->heap.n == b->heap.cap) {
        b->heap.cap = b->heap.cap ? 2 * b->heap.cap : 1024;
        b->heap.at = rp_realloc(b->heap.at, b->heap.cap, sizeof *b->heap.at);
        b->heap.clock = rp_realloc(b->heap.clock, b->heap.cap, sizeof *b->heap.clock);
    }
    uint32_t i = b->heap.n++;
    for (; i > 0 && b->heap.clock[(i - 1) / 2] > clock; i = (i - 1) / 2) {
        b->heap.at[i] = b->heap.at[(i - 1) / 2];
        b->heap.clock[i] = b->heap.clock[(i - 1) / 2];
    }
    b->heap.at[i] = node;
    b->heap.clock[i] = clock;
}

static uint32_t pop(struct brute *b) {
    uint32_t first = b->heap.at[0], last = b->heap.at[--b->heap.n], i = 0;
    uint64_t clock = b->heap.clock[b->heap.n];
    for (uint32_t c = 1; c < b->heap.n; c = 2 * i + 1) {
        c += c + 1 < b->heap.n && b->heap.clock[c + 1] < b->heap.clock[c];
        if (b->heap.clock[c] >= clock)
            break;
        b->heap.at[i] = b->heap.at[c];
        b->heap.clock[i] = b->heap.clock[c];
        i = c;
    }
    b->heap.at[i] = last;
    b->heap.clock[i] = clock;
    return first;
}

/* FNV-1a: Fowler, Noll, Vo. */
static uint32_t hash(const struct key *key) {
    const unsigned char *p = (const unsigned char *)key;
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < sizeof *key; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return (uint32_t)(h ^ h >> 32);
}

static void add_state(struct brute *b, const struct key *key, uint64_t clock) {
    uint32_t i = hash(key) & (b->table_size - 1);
    while (b->table[i] != 0 &&
           memcmp(&b->nodes[b->table[i] - 1].key, key, sizeof *key) != 0)
        i = (i + 1) & (b->table_size - 1);
    if (b->table[i] == 0) {
        if (b->n_nodes == b->o->max_states)
            return;
        b->nodes[b->n_nodes] = (struct node){.clock = UINT64_MAX};
        b->nodes[b->n_nodes].key = *key;
        b->table[i] = ++b->n_nodes;
    }
    struct node *node = &b->nodes[b->table[i] - 1];
    if (clock < node->clock) {
        node->clock = clock;
        push(b, b->table[i] - 1, clock);
    }
}

/* ---- the four kinds of step ---- */

static uint32_t subtract(uint32_t a, uint32_t b) {
    return a > b ? a - b : 0;
}

static uint32_t max_of(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static void advance(struct key *k, uint32_t ns) {
    k->d2h = subtract(k->d2h, ns);
    k->h2d = subtract(k->h2d, ns);
    for (uint32_t x = 0; x < MAX_TENSORS; x++) {
        k->ready[x] = subtract(k->ready[x], ns);
        k->host_ready[x] = subtract(k->host_ready[x], ns);
    }
}

/* Run-once and ordered ops keep the graph's order among themselves. */
static bool keeps_place(const struct rp_op *op) {
    return !op->recompute || op->ordered;
}

/* Whether op j may run for the first time. */
static bool is_next(const struct brute *b, uint32_t ran, uint32_t j) {
    const struct rp_op *ops = b->g->ops;
    for (uint32_t i = 0; i < j; i++)
        if (!(ran >> i & 1) &&
            (!b->o->any_order || (keeps_place(&ops[i]) && keeps_place(&ops[j]))))
            return false;
    return rp_brute_finds_sources(b->g, ran, j);
}

static void try_run(struct brute *b, const struct key *from, uint64_t clock, uint32_t j) {
    const struct rp_op *op = &b->g->ops[j];
    struct key k = *from;
    uint32_t wait = 0;
    bool again = from->ran >> j & 1;
    if (again && (!b->o->recompute || !rp_brute_may_run_again(b->g, from->ran, j) ||
                  (b->out[j] & ~k.device) == 0))
        return;
    if ((b->in[j] & ~k.device) || (!again && !is_next(b, k.ran, j)))
        return;
    for (uint32_t x = 0; x < b->n; x++)
        if (b->in[j] >> x & 1)
            wait = max_of(wait, k.ready[x]);
    for (uint32_t x = 0; x < b->n; x++)
        if (b->updates[j] >> x & 1)
            wait = max_of(wait, k.host_ready[x]);
    for (uint32_t x = 0; x < b->n; x++)
        if ((b->out[j] & k.device) >> x & 1 && k.ready[x] > wait)
            return;
    uint64_t workspace = op->workspace_bytes;
    if (op->cannot_rewrite)
        workspace += bytes_of(b, b->out[j] & k.device);
    k.device |= b->out[j];
    if (bytes_of(b, k.device) + workspace > b->limit_bytes)
        return;
    k.host &= (uint16_t)~b->updates[j];
    k.ran |= 1u << j;
    advance(&k, wait + (uint32_t)op->time_ns);
    add_state(b, &k, clock + wait + op->time_ns);
}

static void try_tensor(struct brute *b, const struct key *from, uint64_t clock,
                       uint32_t x) {
    uint16_t bit = (uint16_t)(1u << x);
    bool on_device = from->device & bit, on_host = from->host & bit;
    struct key k = *from;
    uint32_t wait = on_host ? k.host_ready[x] : 0;
    bool freeable = !(b->pinned & bit) && (on_host || !(b->homes & bit));
    if (on_device && k.ready[x] <= wait && freeable) { /* free */
        advance(&k, wait);
        k.device ^= bit;
        add_state(b, &k, clock + wait);
        k = *from;
    }
    if (on_device && !on_host && b->o->swap) {
        k.d2h = k.host_ready[x] = max_of(k.d2h, k.ready[x]) + b->out_ns[x];
        k.host |= bit;
        if (bytes_of(b, k.host | b->homes) <= b->o->host_limit_bytes)
            add_state(b, &k, clock);
        k = *from;
    }
    if (!on_device && on_host && b->o->swap) {
        k.h2d = k.ready[x] = max_of(k.h2d, k.host_ready[x]) + b->in_ns[x];
        k.device |= bit;
        if (bytes_of(b, k.device) <= b->limit_bytes)
            add_state(b, &k, clock);
    }
}

static void expand(struct brute *b, uint32_t node) {
    struct key k = b->nodes[node].key;
    uint64_t clock = b->nodes[node].clock;
    for (uint32_t j = 0; j < b->g->n_ops; j++)
        try_run(b, &k, clock, j);
    for (uint32_t x = 0; x < b->n; x++)
        try_tensor(b, &k, clock, x);
}

static bool is_end(const struct brute *b, const struct key *k) {
    return k->ran == (1u << b->g->n_ops) - 1 && (k->device & b->keep) == b->keep &&
           (k->host & b->homes) == b->homes;
}

/* The least time with these sources on the host, if it is less than *time_ns. */
static enum rp_brute_result search(const struct rp_graph *g,
                                   const struct rp_brute_copies *o, uint64_t homes,
                                   uint64_t *time_ns) {
    struct brute b = {.g = g, .o = o, .table_size = 2};
    read_graph(&b, homes);
    struct key start = {.host = b.homes};
    if (bytes_of(&b, b.homes) > o->host_limit_bytes || (int64_t)b.limit_bytes < 0)
        return *time_ns == UINT64_MAX ? RP_BRUTE_NONE : RP_BRUTE_FOUND;
    while (b.table_size < 2 * o->max_states)
        b.table_size *= 2;
    b.nodes = rp_calloc(o->max_states, sizeof *b.nodes);
    b.table = rp_calloc(b.table_size, sizeof *b.table);
    add_state(&b, &start, 0);
    while (b.heap.n > 0 && b.heap.clock[0] < *time_ns) {
        uint32_t node = pop(&b);
        const struct key *k = &b.nodes[node].key;
        if (b.nodes[node].done)
            continue;
        b.nodes[node].done = true;
        uint64_t end = b.nodes[node].clock + max_of(k->d2h, k->h2d);
        if (is_end(&b, k) && end < *time_ns)
            *time_ns = end;
        expand(&b, node);
    }
    bool gave_up = b.n_nodes == o->max_states;
    free(b.nodes);
    free(b.table);
    free(b.heap.at);
    free(b.heap.clock);
    return gave_up                  ? RP_BRUTE_GAVE_UP
           : *time_ns == UINT64_MAX ? RP_BRUTE_NONE
                                    : RP_BRUTE_FOUND;
}

/* The sources with this home. */
static uint64_t sources_at(const struct rp_graph *g, enum rp_home home) {
    uint64_t set = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].home == home)
            set |= UINT64_C(1) << x;
    return set;
}

enum rp_brute_result rp_brute_copies_best(const struct rp_graph *g,
                                          const struct rp_brute_copies *o,
                                          uint64_t *time_ns) {
    uint64_t must = sources_at(g, RP_HOME_HOST), may = sources_at(g, RP_HOME_ANY);
    enum rp_brute_result result;
    *time_ns = UINT64_MAX;
    for (uint64_t some = may;; some = (some - 1) & may) { /* all subsets */
        result = search(g, o, must | some, time_ns);
        if (some == 0 || result == RP_BRUTE_GAVE_UP)
            return result;
    }
}
