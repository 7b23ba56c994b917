#include "solve/exhaustive/astar_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/random.h"

enum { MAX_COMPARED = 2000 }; /* with one new state */

void rp_astar_states_init(struct rp_astar_states *k, uint32_t max_nodes,
                          bool host_is_free) {
    *k = (struct rp_astar_states){
        .max_nodes = max_nodes, .n_table = 64, .host_is_free = host_is_free};
    while (k->n_table < max_nodes)
        k->n_table *= 2;
    k->node = rp_calloc(max_nodes, sizeof *k->node);
    k->table = rp_calloc(k->n_table, sizeof *k->table);
    memset(k->table, 0xff, k->n_table * sizeof *k->table); /* RP_NONE */
}

void rp_astar_states_fini(struct rp_astar_states *k) {
    for (size_t i = 0; i < k->bucket.n; i++)
        free(k->bucket.at[i].key.at);
    free(k->bucket.at);
    free(k->node);
    free(k->table);
    free(k->end.at);
    *k = (struct rp_astar_states){0};
}

void rp_astar_states_ends(const struct rp_astar_states *k, uint32_t node,
                          struct rp_astar_ends *ends) {
    const struct rp_astar_node *n = &k->node[node];
    *ends = (struct rp_astar_ends){0};
    for (uint32_t i = n->first_end; i < n->first_end + n->n_ends; i++) {
        const struct rp_astar_end *e = &k->end.at[i];
        (e->host ? ends->host_ready_ns : ends->ready_ns)[e->tensor] = e->ns;
    }
}

/* Appends the ends after the clock. */
static void push_ends(struct rp_astar_states *k, const struct rp_astar_state *s,
                      const struct rp_astar_ends *ends) {
    for (uint64_t left = s->device; left != 0;) {
        uint32_t x = rp_astar_take(&left);
        if (ends->ready_ns[x] > s->clock_ns)
            rp_push(&k->end, ((struct rp_astar_end){ends->ready_ns[x], (uint8_t)x, false}));
    }
    for (uint64_t left = s->host; left != 0;) {
        uint32_t x = rp_astar_take(&left);
        if (ends->host_ready_ns[x] > s->clock_ns)
            rp_push(&k->end,
                    ((struct rp_astar_end){ends->host_ready_ns[x], (uint8_t)x, true}));
    }
}

/* The end of a copy of a node; 0: it has ended, or there is none. */
static uint64_t end_ns(const struct rp_astar_states *k, const struct rp_astar_node *n,
                       const struct rp_astar_end *of) {
    for (uint32_t i = n->first_end; i < n->first_end + n->n_ends; i++)
        if (k->end.at[i].tensor == of->tensor && k->end.at[i].host == of->host)
            return k->end.at[i].ns;
    return 0;
}

static bool any_later(const struct rp_astar_states *k, const struct rp_astar_node *a,
                      const struct rp_astar_node *b) {
    for (uint32_t i = a->first_end; i < a->first_end + a->n_ends; i++) {
        const struct rp_astar_end *e = &k->end.at[i];
        if (e->ns > b->s.clock_ns && e->ns > end_ns(k, b, e))
            return true;
    }
    return false;
}

/* Is a nowhere later than b, and is on the host all that b has there? Both are in one
 * bucket. */
static bool dominates(const struct rp_astar_states *k, const struct rp_astar_key *a,
                      const struct rp_astar_key *b) {
    const struct rp_astar_node *m = &k->node[a->node], *n = &k->node[b->node];
    return a->clock_ns <= b->clock_ns && (b->host & ~a->host) == 0 &&
           a->d2h_free_ns <= b->d2h_free_ns && a->h2d_free_ns <= b->h2d_free_ns &&
           (n->s.copyable & ~m->s.copyable & ~m->s.host) == 0 && !any_later(k, m, n);
}

/* ---- buckets ---- */

/* Fibonacci hashing (Knuth, volume 3, section 6.4) into a table of a power of two. */
static uint32_t hash(const struct rp_astar_states *k, const struct rp_astar_bucket *b) {
    uint64_t h = b->device * RP_GOLDEN_RATIO_64;
    h = (h ^ h >> 32 ^ b->host) * RP_GOLDEN_RATIO_64;
    h = (h ^ h >> 29 ^ b->n_first ^ b->homes << 8) * RP_GOLDEN_RATIO_64;
    return (uint32_t)(h >> 32) & (k->n_table - 1);
}

/* A new one if there is none. */
static struct rp_astar_bucket *bucket_of(struct rp_astar_states *k,
                                         const struct rp_astar_state *s) {
    struct rp_astar_bucket b = {.device = s->device,
                                .host = k->host_is_free ? 0 : s->host,
                                .n_first = s->n_first,
                                .homes = s->homes};
    uint32_t *head = &k->table[hash(k, &b)];
    for (uint32_t i = *head; i != RP_NONE; i = k->bucket.at[i].next) {
        struct rp_astar_bucket *known = &k->bucket.at[i];
        if (known->device == b.device && known->host == b.host &&
            known->n_first == b.n_first && known->homes == b.homes)
            return known;
    }
    b.next = *head;
    *head = (uint32_t)k->bucket.n;
    rp_push(&k->bucket, b);
    return &k->bucket.at[*head];
}

static void swap_keys(struct rp_astar_key *a, struct rp_astar_key *b) {
    struct rp_astar_key a_before = *a;
    *a = *b;
    *b = a_before;
}

/* Does a known state dominate the new one? That one becomes the last, which is looked at
 * first, as it may well dominate others. Takes those out of the bucket that the new one
 * dominates. What they dominate, it dominates too. In large buckets it looks at the last
 * states only. */
static bool is_dominated(struct rp_astar_states *k, struct rp_astar_bucket *b,
                         const struct rp_astar_key *key) {
    size_t stop = b->key.n > MAX_COMPARED ? b->key.n - MAX_COMPARED : 0;
    for (size_t i = b->key.n; i-- > stop;) {
        struct rp_astar_key *known = &b->key.at[i];
        k->compared++;
        if (dominates(k, known, key)) {
            swap_keys(known, &b->key.at[b->key.n - 1]);
            return true;
        }
        if (dominates(k, key, known)) {
            k->node[known->node].dominated = true;
            *known = b->key.at[--b->key.n];
        }
    }
    return false;
}

bool rp_astar_states_add(struct rp_astar_states *k, const struct rp_astar_state *s,
                         const struct rp_astar_ends *ends, uint64_t min_ns,
                         struct rp_astar_step by) {
    uint32_t first = (uint32_t)k->end.n;
    struct rp_astar_bucket *b = bucket_of(k, s);
    struct rp_astar_key key = {s->host, s->clock_ns, rp_max_u64(s->d2h_ns, s->clock_ns),
                               rp_max_u64(s->h2d_ns, s->clock_ns), k->n_nodes};
    push_ends(k, s, ends);
    k->node[k->n_nodes] = (struct rp_astar_node){.s = *s,
                                                 .min_ns = min_ns,
                                                 .first_end = first,
                                                 .n_ends = (uint32_t)k->end.n - first,
                                                 .by = by};
    if (is_dominated(k, b, &key)) {
        k->end.n = first;
        return false;
    }
    rp_push(&b->key, key);
    k->n_nodes++;
    return true;
}
